// SPDX-License-Identifier: MIT

// MARK: - A call from its start to its end

extension Provider {
    /// Creates a call and adds it to its scope, where it stays until ``end(_:result:streamedByteCount:completion:)``. In
    /// a scope that is shut down, the call fails when it runs.
    func begin(
        _ target: Target,
        options: CallOptions,
        kind: Call.Kind = .response,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        decoding: (any ResponseDecoding)? = nil
    ) -> Call {
        let timeout = options.isEmpty ? nil : options.timeout.exchange
        let context = context(of: target, options: options)
        let progressObject = context.options.progress
        configuration.countingClock?.begin(context.id, isTimer: false)
        if !scope.insert(context, owner: self) { context.handle.interrupt(.shutDown) }
        return Call(
            kind,
            in: context,
            by: configuration,
            meter: progress == nil && progressObject == nil
                ? nil : ProgressMeter(progress, object: progressObject, of: target, handle: context.handle),
            decoding: decoding,
            exchangeTimeout: timeout
        )
    }

    /// The context of a call.
    func context(of target: Target, options: CallOptions) -> RequestContext {
        let options = self.options(options, of: target)
        return RequestContext(
            inner: Target.self == MultiTarget.self ? target.innermost : target,
            scope: scope,
            options: options,
            secretHeaders: configuration.plugins.secretHeaders,
            handle: RequestHandle(deadline: options.timeout.deadline(by: configuration.elapsedTime))
        )
    }

    /// The endpoint of a call, and whether it is stubbed.
    func makeEndpoint(
        of target: Target,
        for call: Call,
        driver: (any TransferDriver)? = nil
    ) throws -> (endpoint: Endpoint, stub: StubBehavior) {
        var endpoint = try endpoint(of: target, options: call.context.options)
        if let driver {
            endpoint.task = endpoint.task.driver(driver)
            if let url = endpoint.url.ofHandshake { endpoint.url = url }
        }
        return (endpoint, stubClosure(target))
    }

    /// The endpoint of a target, with the base URL and the header fields of the call's options.
    package func endpoint(of target: Target, options: CallOptions = CallOptions()) throws -> Endpoint {
        var endpoint = try endpointClosure(target)
        if options.isEmpty { return endpoint }
        // A call that a queue or an outbox stored goes to the server for which it was made.
        if let kept = options.keptBaseURL, let current = endpoint.baseURL(of: target), kept != current {
            endpoint.url = try target.path.url(below: kept)
        }
        endpoint.headers = endpoint.headers.merging(options.headers)
        return endpoint
    }

    /// The URL below which the endpoint of a target has the target's path; `nil` if the endpoint closure changed the
    /// path, or if the URL can't be called.
    package func baseURL(of target: Target) -> URL? {
        (try? endpointClosure(target))?.baseURL(of: target).flatMap { $0.isCallable ? $0 : nil }
    }

    /// Ends a call by running the plugins' `didFinish` and then the completion handler, for which the scope's shutdown
    /// waits.
    func end(
        _ call: Call,
        result: Result<Response, TargetKitError>,
        streamedByteCount: Int64? = nil,
        completion: (() -> Void)? = nil
    ) {
        if let start = call.start {
            let duration = start.duration(to: .now)
            let finished = FinishedCall(result: result, duration: duration, streamedByteCount: streamedByteCount)
            call.plugins.didFinish(finished, context: call.context.ofLastAttempt)
        }
        if !call.plugins.isEmpty { call.handle.releaseAtEnd() }
        scope.remove(call.context.id, completion: completion)
        configuration.countingClock?.end(call.context.id)
    }
}

// MARK: - Awaited calls, and calls with closures

extension Provider {
    /// Makes a call and waits for its result. Cancelling the caller's task cancels the call.
    ///
    /// - Parameter driver: Sends the requests of a call whose task has no driver.
    @inline(__always)
    func response(
        of target: Target,
        options: CallOptions,
        decoding: (any ResponseDecoding)?,
        driver: (any TransferDriver)? = nil
    ) async -> Result<Response, TargetKitError> {
        let call = begin(target, options: options, decoding: decoding)
        let result = await withTaskCancellationHandler {
            await call.startTask {
                await call.run { try self.makeEndpoint(of: target, for: call, driver: driver) }
            }.value
        } onCancel: {
            call.handle.cancel()
        }
        end(call, result: result)
        return result
    }

    /// Starts a call whose closures run on a queue. The call itself never runs on the caller's thread.
    func start(
        _ target: Target,
        options: CallOptions,
        on queue: DispatchQueue?,
        progress: (@Sendable (TransferProgress) -> Void)?,
        decoding: (any ResponseDecoding)?,
        completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        // On a concurrent queue, progress steps would run concurrently or after the completion.
        let queue = progress == nil ? queue : queue.map { DispatchQueue(label: "TargetKit.call", target: $0) }
        var isOver: Locked<Bool>?
        var progressOnQueue: (@Sendable (TransferProgress) -> Void)?
        if let progress {
            // A call can end while progress of a shared exchange is still being delivered.
            let isEnded = Locked(false)
            isOver = isEnded
            progressOnQueue = { step in
                isEnded.withLock { isEnded in if !isEnded { queue.run { progress(step) } } }
            }
        }
        let call = begin(target, options: options, progress: progressOnQueue, decoding: decoding)
        call.startTask(isImmediate: false) { [self, isOver] in
            let result = await call.run { try makeEndpoint(of: target, for: call) }
            isOver?.withLock { $0 = true }
            end(call, result: result) {
                queue.run { completion(result) }
                call.handle.finish(result)
            }
        }
        return call.handle
    }

    /// The options of a call. These options override the target's, which override the provider's.
    package func options(_ options: CallOptions, of target: Target) -> CallOptions {
        self.options.overridden(by: target.options).overridden(by: options)
    }
}

extension Optional<DispatchQueue> {
    /// Runs the work on the queue, or synchronously without a queue.
    fileprivate func run(_ work: @escaping @Sendable () -> Void) {
        guard let self else { return work() }
        self.async(execute: work)
    }
}

/// Checks the envelope of a call whose caller requests the response.
struct EnvelopeCheck: ResponseDecoding {
    func decode(_ response: Response, with options: CallOptions) throws(TargetKitError) {
        if let envelope = options.envelope { try response.unwrap(envelope) }
    }
}

/// Decodes the value of a call, and keeps it until ``result(of:)`` returns it.
struct DecodedValue<Value: Sendable>: ResponseDecoding {
    private let decoding: BodyDecoding<Value>
    /// Boxed, because the compiler doesn't specialize a lock of a generic value, which takes 1 % of a stubbed call.
    private let value = Locked<(any StoredValue)?>(nil)

    init(by decoding: BodyDecoding<Value>) {
        self.decoding = decoding
    }

    func decode(_ response: Response, with options: CallOptions) throws(TargetKitError) {
        let decoded = StoredBox(try decoding.value(of: response, with: options))
        value.withLock { $0 = decoded }
    }

    /// The result of the call, with the last decoded value.
    func result(of result: Result<Response, TargetKitError>) -> Result<Value, TargetKitError> {
        result.flatMap { response in
            guard let decoded = value.withLock({ $0 }) as? StoredBox<Value> else {
                return .failure(TargetKitError(stage: .decoding, target: response.target, response: response))
            }
            return .success(decoded.value)
        }
    }
}

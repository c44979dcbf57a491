// SPDX-License-Identifier: MIT

// MARK: - A call from its start to its end

extension Provider {
    /// Creates a call and adds it to its scope until ``end(_:result:streamedByteCount:completion:)``. A scope that is
    /// shut down rejects it.
    func begin(
        _ target: Target,
        options: CallOptions,
        kind: Call.Kind = .response,
        isAwaited: Bool = false,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        decoding: (CallOptions) -> Call.Decoding? = { _ in nil }
    ) -> Call {
        let inner: any TargetType = Target.self == MultiTarget.self ? target.innermost : target
        let options = self.options(options, of: target)
        let handle = RequestHandle(deadline: options.timeout.deadline(by: configuration.elapsedTime))
        let context = RequestContext(
            inner: inner,
            scope: scope,
            options: options,
            secretHeaders: configuration.plugins.secretHeaders,
            handle: handle
        )
        let isShared = kind == .response && options.sharesInFlight
        let object = options.progress
        configuration.countingClock?.begin(context.id)
        if !scope.insert(context, owner: self, handle: handle) { handle.interrupt(.shutDown) }
        return Call(
            isShared ? .shared : kind,
            in: context,
            configuration,
            hasOwnTask: !isAwaited || isShared || configuration.exchangeClock != nil || object != nil,
            meter: progress == nil && object == nil
                ? nil : ProgressMeter(progress, object: object, of: target, handle: handle),
            decoding: decoding(options)
        )
    }

    /// Runs a call within its timeout and returns the result.
    func run(
        _ call: Call,
        target: Target,
        options: CallOptions
    ) async -> Result<Response, TargetKitError> {
        // The timeout of a stream covers its body.
        let timeout = call.kind.isStream ? nil : startTimeout(of: call)
        defer { timeout?.cancel() }
        return await call.run {
            ResolvedTarget(
                endpoint: try endpoint(of: target, options: call.context.options),
                stub: stubClosure(target),
                timeout: options.isEmpty ? nil : options.timeout.exchange
            )
        }
    }

    /// The endpoint of a target, with the base URL and the header fields of the call's options.
    package func endpoint(of target: Target, options: CallOptions = CallOptions()) throws -> Endpoint {
        var endpoint = try endpointClosure(target)
        if options.isEmpty { return endpoint }
        if let kept = options.keptBaseURL, let current = endpoint.baseURL(of: target), kept != current {
            endpoint.url = try target.path.url(below: kept)
        }
        return endpoint.adding(headers: options.headers)
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
        completion: () -> Void
    ) {
        finish(call, result: result, streamedByteCount: streamedByteCount)
        scope.remove(call.context.id, completion: completion)
        configuration.countingClock?.end(call.context.id)
    }

    /// Ends a call that has no completion.
    func end(_ call: Call, result: Result<Response, TargetKitError>) {
        finish(call, result: result, streamedByteCount: nil)
        scope.remove(call.context.id)
        configuration.countingClock?.end(call.context.id)
    }

    private func finish(_ call: Call, result: Result<Response, TargetKitError>, streamedByteCount: Int64?) {
        var context = call.context
        if let start = call.start {
            context.attempt = context.handle.attempt
            let duration = start.duration(to: .now)
            let finished = FinishedCall(result: result, duration: duration, streamedByteCount: streamedByteCount)
            call.plugins.didFinish(finished, context: context)
        }
        if !call.plugins.isEmpty { call.handle.releaseAtEnd() }
    }

    /// Starts a task that ends the call at its timeout unless the task is cancelled.
    func startTimeout(of call: Call) -> Task<Void, Never>? {
        guard let limit = call.context.options.timeout.wholeCall, limit > .zero else { return nil }
        return Task { [clock = configuration.clock, handle = call.handle, timer = call.timer()] in
            defer { timer.end() }
            do {
                try await timer.run {
                    var deadline: Deadline?
                    repeat {
                        deadline = handle.deadline
                        // This task may start late.
                        try await clock.wait(for: deadline?.remainingTime ?? .zero)
                        await handle.waitWhilePaused()
                        // The time during a pause isn't counted.
                    } while deadline !== handle.deadline
                    try Task.checkCancellation()
                }
                handle.interrupt(.timedOut)
            } catch {
                // The task was cancelled because the call ended.
            }
        }
    }
}

// MARK: - Awaited calls, and calls with closures

extension Provider {
    /// Makes a call and waits for its result. Cancelling the caller's task cancels the call.
    func response(
        of target: Target,
        options: CallOptions,
        decoding: (CallOptions) -> Call.Decoding?
    ) async -> Result<Response, TargetKitError> {
        let call = begin(target, options: options, isAwaited: true, decoding: decoding)
        let result = await withTaskCancellationHandler {
            if !call.hasOwnTask { return await run(call, target: target, options: options) }
            // Starting the task synchronously saves a thread hop.
            let task = Task.startingNow {
                await call.trackedByTestClock { await self.run(call, target: target, options: options) }
            }
            call.handle.attach(task)
            return await task.value
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
        decoding: (CallOptions) -> Call.Decoding?,
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
        let task = Task { [self, isOver] in
            let result =
                if configuration.countingClock == nil {
                    await run(call, target: target, options: options)
                } else {
                    await call.trackedByTestClock { await run(call, target: target, options: options) }
                }
            isOver?.withLock { $0 = true }
            end(call, result: result) {
                queue.run { completion(result) }
                call.handle.finish(result)
            }
        }
        call.handle.attach(task)
        return call.handle
    }

    /// The options of a call. These options override the target's, which override the provider's.
    package func options(_ options: CallOptions, of target: Target) -> CallOptions {
        self.options.overridden(by: target.options).overridden(by: options)
    }

    /// Checks the envelope, if any.
    static func envelopeCheck(_ options: CallOptions) -> Call.Decoding? {
        guard let envelope = options.envelope else { return nil }
        return Call.Decoding { response throws(TargetKitError) in try response.unwrap(envelope) }
    }
}

extension Optional<DispatchQueue> {
    /// Runs the work on the queue, or synchronously without a queue.
    fileprivate func run(_ work: @escaping @Sendable () -> Void) {
        guard let self else { return work() }
        self.async(execute: work)
    }
}

/// Stores the value that ``decoding(_:)`` decodes inside the call, until ``result(of:)`` returns it.
struct ValueSlot<Value: Decodable & Sendable>: Sendable {
    let keyPath: String?
    private let value = Locked<Value?>(nil)

    init(keyPath: String?) {
        self.keyPath = keyPath
    }

    func decoding(_ options: CallOptions) -> Call.Decoding? {
        let (envelope, decoder) = (options.envelope, options.decoder)
        return Call.Decoding { [self] response throws(TargetKitError) in
            let decoded: Value
            if let envelope {
                decoded = try response.unwrap(Value.self, from: envelope, atKeyPath: keyPath, using: decoder)
            } else {
                decoded = try response.decode(Value.self, atKeyPath: keyPath, using: decoder)
            }
            value.withLock { $0 = decoded }
        }
    }

    /// The result of the call, with the last decoded value.
    func result(of result: Result<Response, TargetKitError>) -> Result<Value, TargetKitError> {
        result.flatMap { response in
            guard let value = value.withLock({ $0 }) else {
                return .failure(TargetKitError(stage: .decoding, target: response.target, response: response))
            }
            return .success(value)
        }
    }
}

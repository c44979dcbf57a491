// SPDX-License-Identifier: MIT

/// One call of a provider, from its target to its result. It runs in a task of its own, which its handle cancels.
///
/// The type isn't generic over the target, so it is compiled once.
final class Call: Sendable {
    /// The purpose of a call.
    enum Kind: Sendable {
        /// A response with a complete body in memory or in a file.
        case response
        /// A response whose body arrives while it is read.
        case stream
        /// An exchange that identical calls share, or a concurrent request of a driver. It has its own context.
        case part
    }

    /// The provider's configuration.
    let configuration: CallConfiguration
    let kind: Kind
    /// The context of the first attempt, passed to plugins.
    let context: RequestContext
    /// When the call started, or `nil` if no plugin needs it.
    let start: ContinuousClock.Instant?
    /// Receives the progress of transports; `nil` if there is no observer.
    let progress: (@Sendable (TransferProgress) -> Void)?
    /// The meter of ``progress``; `nil` for a shared exchange, whose calls have their own meters.
    let meter: ProgressMeter?
    /// Decodes the value, or checks the envelope; `nil` if there is neither.
    let decoding: (any ResponseDecoding)?
    /// The exchange timeout of the call's own options.
    let exchangeTimeout: Duration?

    var handle: RequestHandle { context.handle }
    var plugins: PluginChain { configuration.plugins }

    init(
        _ kind: Kind,
        in context: RequestContext,
        by configuration: CallConfiguration,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        meter: ProgressMeter? = nil,
        decoding: (any ResponseDecoding)? = nil,
        exchangeTimeout: Duration? = nil
    ) {
        self.kind = kind
        self.context = context
        self.configuration = configuration
        start = configuration.plugins.hasDidFinish ? .now : nil
        self.progress = progress ?? meter.map { meter in { @Sendable in meter.receive($0) } }
        self.meter = meter
        self.decoding = decoding
        self.exchangeTimeout = exchangeTimeout
    }
}

/// Decodes the value of a response within a call, and keeps it for the caller.
protocol ResponseDecoding: Sendable {
    func decode(_ response: Response, with options: CallOptions) throws(TargetKitError)
}

/// The request of a call before plugins change it, and the endpoint that it was made from.
final class ResolvedRequest: Sendable {
    let urlRequest: URLRequest
    let endpoint: Endpoint
    let stub: StubBehavior

    init(_ urlRequest: URLRequest, of endpoint: Endpoint, stub: StubBehavior) {
        self.urlRequest = urlRequest
        self.endpoint = endpoint
        self.stub = stub
    }

    var driver: (any TransferDriver)? { endpoint.task.driver }
    var isStubbed: Bool { stub != .never }
}

// MARK: - The path of a call

extension Call {
    /// Runs the call: endpoint → request → attempts → error mapping → the plugins' `process`.
    ///
    /// - Parameter makeEndpoint: Returns the endpoint, and whether the call is stubbed.
    func run(_ makeEndpoint: () throws -> (endpoint: Endpoint, stub: StubBehavior)) async -> Result<
        Response, TargetKitError
    > {
        // The time limit of a stream covers its body.
        let timer = kind == .stream ? nil : startTimer()
        defer { timer?.cancel() }
        var result: Result<Response, TargetKitError>
        do {
            let request = try await resolved(makeEndpoint)
            result = await attempts(of: request)
            if let driver = request.driver { result = await end(result, of: request, by: driver) }
        } catch {
            result = .failure(error)
        }
        if let meter, case .success = result { meter.finish() }
        result = mapped(unlessInterrupted(result))
        let processed = plugins.hasProcess ? await process(result) : result
        return notingRepeatability(of: plugins.hasExchange ? decided(result, after: processed) : processed)
    }

    /// Makes attempts until no plugin requests another one.
    ///
    /// - Parameter prepared: The prepared request of the first attempt; `nil` if it isn't prepared yet.
    func attempts(
        of request: ResolvedRequest,
        prepared: TransportRequest? = nil
    ) async -> Result<Response, TargetKitError> {
        var prepared = prepared
        var failedAttempts: [FailedAttempt] = []
        while true {
            var (result, isShared) = await attempt(request, prepared: prepared)
            // A shared exchange already asked `retry` about its success.
            guard plugins.hasRetry, !(isShared && result.isSuccess), let delay = await delayBeforeRetry(after: &result)
            else { return failedAttempts.isEmpty ? result : result.after(failedAttempts) }
            if plugins.hasExchange { result.anyResponse?.decide(isAccepted: false) }
            failedAttempts.append(FailedAttempt(result, delay: delay))
            handle.attempt += 1
            prepared = nil
        }
    }

    /// Makes one attempt: the requests of the driver, or a single one. Then decodes the response.
    @inline(__always)
    private func attempt(_ request: ResolvedRequest, prepared: TransportRequest?) async -> AttemptResult {
        do {
            if let driver = request.driver {
                let exchanges = CallExchanges(self, of: request)
                return decoded(try await driver.response(to: request.urlRequest, over: exchanges), isShared: false)
            }
            if let prepared { return decoded(try await send(prepared, of: request), isShared: false) }
            let sent =
                plugins.hasPrepare
                ? try await prepare(request.urlRequest, of: request)
                : try transportRequest(request.urlRequest, of: request)
            if kind == .response, context.options.sharesInFlight, let response = try await shared(sent, of: request) {
                return decoded(response, isShared: true)
            }
            return decoded(try await send(sent, of: request), isShared: false)
        } catch {
            return failed(error, of: request)
        }
    }

    /// Sends a prepared request: `willSend` → redirects, each exchange with the plugins around the transport →
    /// validation → `didReceive`.
    ///
    /// - Parameters:
    ///   - validation: The accepted statuses; `nil` for the target's validation.
    ///   - receive: Receives the body of a stream, or replaces the response, for a driver.
    func send(
        _ prepared: TransportRequest,
        of resolved: ResolvedRequest,
        validation: StatusValidation? = nil,
        receive: (@Sendable (ExchangeResult) async throws -> ExchangeResult)? = nil
    ) async throws(TargetKitError) -> Response {
        var (request, redirects) = (withDeadline(prepared, of: resolved), [Redirect]())
        let context = context.ofLastAttempt
        if !plugins.isEmpty { handle.prepared = request }
        plugins.willSend(request.urlRequest, context: context)
        do {
            var received: ExchangeResult
            while true {
                // Released before the next exchange.
                let response = try await exchange(request, of: resolved)
                guard try !follow(response.head, to: &request, after: &redirects, of: resolved) else { continue }
                received = ExchangeResult(response, to: request, after: redirects, validation: validation)
                break
            }
            if let receive {
                received = try await within(request.readDeadline) { [received] in try await receive(received) }
            }
            if kind == .stream { received = try await checkedStream(received) }
            return try accepted(received, in: context)
        } catch {
            let url = redirects.isEmpty ? nil : request.urlRequest.url
            throw exchangeFailure(error, of: prepared, redirectedTo: url, in: context)
        }
    }
}

// MARK: - The steps

// What a step that isn't inlined needs for itself is released when it returns. Inlined, it can become part of the memory of
// each suspended call.
extension Call {
    private typealias AttemptResult = (result: Result<Response, TargetKitError>, isShared: Bool)

    /// Decodes the response of an attempt.
    @inline(never)
    private func decoded(_ response: Response, isShared: Bool) -> AttemptResult {
        do {
            try decoding?.decode(response, with: context.options)
            return (.success(response), isShared)
        } catch {
            return (.failure(failure(error, at: .decoding, request: response.request)), isShared)
        }
    }

    /// The failure of an attempt, with the envelope's error details.
    @inline(never)
    private func failed(_ error: any Error, of request: ResolvedRequest) -> AttemptResult {
        let isOfDriver = request.driver != nil && !(error is TargetKitError) && !(error is InvalidRequest)
        let hasSent = isOfDriver && handle.state.withLock(\.hasSent)
        var failure = failure(error, at: hasSent ? .transport : .request, request: request.urlRequest)
        // An error that doesn't come from an exchange, such as a driver's own, isn't retried.
        if !(error is TargetKitError) { failure.mark(.final) }
        if isOfDriver { failure.mark(.ofDriver) }
        return (.failure(context.options.envelope.map { failure.explained(by: $0) } ?? failure), false)
    }

    /// Ends an exchange with its response, if the status code is accepted, and calls the plugins' `didReceive`.
    @inline(never)
    private func accepted(_ received: ExchangeResult, in context: RequestContext) throws -> Response {
        try checkInterruption()
        let response = try Response(
            received.response,
            to: received.request,
            after: received.redirects,
            of: context.target,
            decoder: context.options.decoder,
            isStream: kind == .stream,
            isCrossOrigin: received.isCrossOrigin
        )
        .filter(received.validation ?? context.target.validation)
        plugins.didReceive(.success(response), context: context)
        return response
    }

    /// Ends an exchange with its failure, and calls the plugins' `didReceive`.
    @inline(never)
    private func exchangeFailure(
        _ error: any Error,
        of request: TransportRequest,
        redirectedTo url: URL?,
        in context: RequestContext
    ) -> TargetKitError {
        var error = request.timeout.map { ExceededLimit.exchange($0).explaining(error) } ?? error
        if let url { error = (error as? URLError)?.ofRedirect(to: url) ?? error }
        var failure = failure(error, at: .transport, request: request.urlRequest)
        if url != nil { failure.mark(.afterRedirect) }
        plugins.didReceive(.failure(failure), context: context)
        return failure
    }

    /// Waits for the delay that a plugin requests before another attempt, and returns it; `nil` if no plugin requests
    /// one.
    private func delayBeforeRetry(after result: inout Result<Response, TargetKitError>) async -> Duration? {
        if case .failure(let error) = result, error.isMarked(.final) || error.isMarked(.ofPlugin) { return nil }
        guard interruption == nil else { return nil }
        switch await hook({ [plugins, result, context = context.ofLastAttempt] in
            await plugins.retry(result, context: context)
        }) {
        case .doNotRetry: return nil
        case .fail(let error): result = .failure(failure(error, at: .transport))
        case .retry(let delay):
            // The call would time out instead of returning this result.
            if delay > .zero, let remainingTime = context.remainingTime, delay >= remainingTime { return nil }
            do {
                if delay > .zero { try await configuration.clock.wait(for: delay) }
                handle.revokeCommit()
                try checkInterruption()
                return delay
            } catch {
                result = .failure(failure(error, at: .cancelled))
            }
        }
        return nil
    }

    /// Tells the driver that the last attempt ended, and the caller whether another call can continue the transfer.
    private func end(
        _ result: Result<Response, TargetKitError>,
        of request: ResolvedRequest,
        by driver: any TransferDriver
    ) async -> Result<Response, TargetKitError> {
        let isContinuable = context.transfer?.isRepeatable == true
        handle.state.withLock { $0.isContinuable = isContinuable }
        let result = unlessInterrupted(result)
        await driver.end(result, over: CallExchanges(self, of: request))
        // Values that a driver stores can refer to the call. With plugins, they are released at the end of the call.
        if plugins.isEmpty { handle.releaseAtEnd() }
        return result
    }

    /// Maps an error with the target's ``ErrorMappingTarget``.
    func mapped(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        guard configuration.mapsErrors, let target = context.target as? any ErrorMappingTarget else { return result }
        // The app's code may have cancelled the call or taken a long time.
        return unlessInterrupted(target.mapped(result))
    }

    /// Passes the result through the plugins' `process`. A replaced response is decoded again.
    private func process(_ result: Result<Response, TargetKitError>) async -> Result<Response, TargetKitError> {
        let context = context.ofLastAttempt
        let processed = await hook { [plugins] in await plugins.process(result, context: context) }
            // A response created by a plugin has neither.
            .map { $0.target == nil ? $0.of(context.target, decoder: context.options.decoder) : $0 }
        guard case .success(let response) = processed, !response.isUnchanged(from: result) else {
            return unlessInterrupted(processed)
        }
        return unlessInterrupted(decoded(response, isShared: false).result)
    }
}

/// The configuration that all calls of a provider share.
final class CallConfiguration: Sendable {
    /// Creates the request of an endpoint; if `nil`, ``Endpoint/urlRequest()`` is used.
    let requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)?
    let transport: any Transport
    let redirects: RedirectFollower
    let clock: any Clock<Duration>
    /// The clock if it is a test clock that counts calls; otherwise `nil`.
    let countingClock: (any CallCountingClock)?
    let elapsedTime: ElapsedTime
    /// Whether a target may be an ``ErrorMappingTarget``. Computed once, because a conformance check is slow.
    let mapsErrors: Bool
    let sharedExchanges = SharedExchanges()
    let plugins: PluginChain

    init<Target: TargetType>(
        of type: Target.Type,
        requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)?,
        transport: any Transport,
        plugins: PluginChain,
        redirects: RedirectPolicy,
        clock: any Clock<Duration>
    ) {
        self.requestClosure = requestClosure
        self.transport = transport
        self.plugins = plugins
        self.redirects = RedirectFollower(policy: redirects, secretNames: plugins.secretHeaders)
        self.clock = clock
        countingClock = clock as? any CallCountingClock
        elapsedTime = ElapsedTime(clock)
        // A `MultiTarget` wraps any target, and an object may be an instance of a subclass.
        mapsErrors = type == MultiTarget.self || type is AnyObject.Type || type is any ErrorMappingTarget.Type
    }
}

// SPDX-License-Identifier: MIT

/// One call of a provider, from its target to its result. Only calls of callers use ``run(_:)``, unlike calls of
/// ``Kind/exchange``.
///
/// The type isn't generic over the target, so it is compiled once.
final class Call: Sendable {
    /// The purpose of a call.
    enum Kind: Sendable, Hashable {
        /// A response with a complete body in memory or in a file.
        case response
        /// A response of an exchange that identical calls share.
        case shared
        /// A response whose body arrives while it is read. At most about `buffer` bytes wait for the reader.
        case stream(buffer: Int)
        /// An exchange with its own context, which several calls share or which a driver sends concurrently.
        case exchange

        var isStream: Bool {
            if case .stream = self { true } else { false }
        }
    }

    /// Decodes the caller's value from a response, and stores it.
    struct Decoding: Sendable {
        // A wrapper, because an optional function with typed throws requires macOS 15.
        let decode: @Sendable (Response) throws(TargetKitError) -> Void
    }

    /// The provider's configuration.
    let configuration: CallConfiguration
    let plugins: PluginChain
    let kind: Kind
    /// The context of the first attempt, passed to plugins.
    let context: RequestContext
    /// When the call started, or `nil` if no plugin needs it.
    let start: ContinuousClock.Instant?
    /// Whether the call has its own task, whose cancellation cancels everything that the call waits for. Otherwise, the
    /// call runs in the caller's task, and the handle cancels what it waits for.
    let hasOwnTask: Bool
    /// Receives the progress of transports; `nil` if there is no observer.
    let progress: (@Sendable (TransferProgress) -> Void)?
    /// The meter of ``progress``; `nil` for a shared exchange, whose calls have their own meters.
    let meter: ProgressMeter?
    /// Decodes the value; `nil` if the caller requested the response.
    let decoding: Decoding?

    var handle: RequestHandle { context.handle }

    init(
        _ kind: Kind,
        in context: RequestContext,
        _ configuration: CallConfiguration,
        plugins: PluginChain? = nil,
        hasOwnTask: Bool = true,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        meter: ProgressMeter? = nil,
        decoding: Decoding? = nil
    ) {
        self.kind = kind
        self.context = context
        self.configuration = configuration
        self.plugins = plugins ?? configuration.plugins
        start = self.plugins.finishes ? .now : nil
        self.hasOwnTask = hasOwnTask
        self.progress = progress ?? meter.map { meter in { @Sendable in meter.receive($0) } }
        self.meter = meter
        self.decoding = decoding
    }

    /// Runs the call: endpoint → request → attempts → error mapping → the plugins' `process`.
    func run(_ resolve: () throws -> ResolvedTarget) async -> Result<Response, TargetKitError> {
        var context = context
        var result: Result<Response, TargetKitError>
        do {
            let target = try resolved(resolve)
            let request =
                if let requestClosure = configuration.requestClosure {
                    try await originalRequest(of: target, by: requestClosure)
                } else {
                    try originalRequest(of: target)
                }
            result = await attempts(of: request, to: target, &context)
        } catch {
            result = .failure(failure(error, at: .request))
        }
        if let meter, case .success = result { meter.finish() }
        // Otherwise, no code ran since the response arrived, when the interruption was checked.
        let wasBusy = !result.isSuccess || meter != nil || decoding != nil || !plugins.isEmpty
        result = mapped(wasBusy ? unlessInterrupted(result) : result)
        let processed = plugins.processes ? await process(result, context) : result
        return notingRepeatability(of: plugins.exchanges ? decided(result, processed, context) : processed)
    }

    /// Makes attempts until no plugin requests another one.
    ///
    /// - Parameter prepared: The prepared request of the first attempt, if there is one.
    func attempts(
        of original: URLRequest,
        to target: ResolvedTarget,
        prepared: TransportRequest? = nil,
        _ context: inout RequestContext
    ) async -> Result<Response, TargetKitError> {
        var failed: [FailedAttempt] = []
        var prepared = prepared
        while true {
            var attempt =
                if kind == .shared, target.endpoint.task.isShareable {
                    await sharedAttempt(original, to: target, &context)
                } else {
                    await self.attempt(original, to: target, prepared, &context)
                }
            guard plugins.retries, let delay = await delayBeforeRetry(&attempt, context: context) else {
                // The calls of a shared exchange each apply their own envelope.
                let result = (kind == .exchange ? attempt.received : attempt.result).after(failed)
                guard let driver = target.endpoint.task.driver, !attempt.isShared else { return result }
                return await endTransfer(result, by: driver, of: original, to: target, context)
            }
            if plugins.exchanges { attempt.received.anyResponse?.decide(isAccepted: false) }
            failed.append(FailedAttempt(attempt.result, delay: delay))
            context.attempt += 1
            handle.attempt = context.attempt
            prepared = nil
        }
    }

    /// Makes one attempt: with the task's driver, or with a single exchange.
    private func attempt(
        _ original: URLRequest,
        to target: ResolvedTarget,
        _ prepared: TransportRequest?,
        _ context: inout RequestContext
    ) async -> Attempt {
        do {
            let result =
                if let driver = target.endpoint.task.driver {
                    try await perform(original, by: driver, to: target, prepared: prepared, &context)
                } else if let prepared {
                    try await exchange(prepared, with: target, &context)
                } else {
                    try await exchange(prepare(original, to: target, &context), with: target, &context)
                }
            return Attempt(result, decoded(result))
        } catch {
            return Attempt(failure(error, at: .request), isShared: false)
        }
    }

    /// Makes one attempt with an exchange that identical calls share, or else with an own one.
    private func sharedAttempt(
        _ original: URLRequest,
        to target: ResolvedTarget,
        _ context: inout RequestContext
    ) async -> Attempt {
        var isPrepared = false
        do {
            let request = try await prepare(original, to: target, &context)
            isPrepared = true
            if !plugins.isEmpty { context[SharedRequestKey.self] = request.urlRequest }
            if let result = try await sharedExchange(request, of: original, with: target, context) {
                return Attempt(result, decoded(result), isShared: true)
            }
            return await attempt(original, to: target, request, &context)
        } catch {
            return Attempt(failure(error, at: .request), isShared: isPrepared)
        }
    }

    /// Makes one attempt of a call whose task has a driver.
    private func perform(
        _ original: URLRequest,
        by driver: any TransferDriver,
        to target: ResolvedTarget,
        prepared: TransportRequest?,
        _ context: inout RequestContext
    ) async throws -> Result<Response, TargetKitError> {
        let exchanges = CallExchanges(self, of: original, to: target, context, prepared: prepared)
        defer { context.sentRequest = exchanges.lastRequest ?? original }
        do {
            return .success(try await driver.response(to: original, over: exchanges))
        } catch let error as TargetKitError where error.stage != .request || error.isOfPlugin {
            return .failure(failure(error, at: .transport))
        } catch {
            throw failure(error, at: .request, request: original)
        }
    }

    /// Tells the driver that the last attempt ended, and the caller whether another call can continue the transfer.
    private func endTransfer(
        _ result: Result<Response, TargetKitError>,
        by driver: any TransferDriver,
        of original: URLRequest,
        to target: ResolvedTarget,
        _ context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let exchanges = CallExchanges(self, of: original, to: target, context)
        exchanges.onPause(nil)
        handle.noteContinuable(context.transfer?.isRepeatable == true)
        let result = unlessInterrupted(result)
        await driver.end(result, over: exchanges)
        // Values that a driver stores can refer to the call. With plugins, they are released at the end of the call.
        if plugins.isEmpty { handle.releaseAtEnd() }
        return result
    }
}

/// A target, resolved with the provider's closures and the call's options. It is a class because suspended functions
/// would store its 400 bytes several times.
final class ResolvedTarget: Sendable {
    let endpoint: Endpoint
    let stub: StubBehavior
    /// The exchange timeout of the call's own options.
    let timeout: Duration?

    init(endpoint: Endpoint, stub: StubBehavior, timeout: Duration?) {
        self.endpoint = endpoint
        self.stub = stub
        self.timeout = timeout
    }
}

/// One attempt of a call.
private struct Attempt: Sendable {
    /// The result before decoding.
    let received: Result<Response, TargetKitError>
    /// The result after decoding.
    var result: Result<Response, TargetKitError>
    /// Whether it is the result of a shared exchange.
    var isShared = false
    /// Whether plugins may request another attempt.
    var canBeRetried = true

    init(
        _ received: Result<Response, TargetKitError>,
        _ result: Result<Response, TargetKitError>,
        isShared: Bool = false
    ) {
        self.received = received
        self.result = result
        self.isShared = isShared
        // For a failure of a shared exchange, `retry` is called by the exchange.
        canBeRetried = isShared ? received.isSuccess && !result.isSuccess : !result.isEndedByPlugin
    }

    /// Creates an attempt that wasn't made or isn't retried.
    init(_ error: TargetKitError, isShared: Bool) {
        received = .failure(error)
        result = received
        self.isShared = isShared
        canBeRetried = false
    }
}

// MARK: - The stages

extension Call {
    func resolved(_ resolve: () throws -> ResolvedTarget) throws -> ResolvedTarget {
        do {
            try checkCancellation()
            if let type = plugins.repeatedType { throw InvalidRequest.twoPlugins(type: type) }
            return try resolve()
        } catch {
            throw failure(error, at: .endpoint)
        }
    }

    /// Returns the endpoint's request, from which each attempt starts.
    func originalRequest(of target: ResolvedTarget) throws -> URLRequest {
        if !context.options.isEmpty { try context.options.timeout.check() }
        return try checked(target.endpoint.urlRequest(), of: target)
    }

    /// Returns the request that the provider's closure creates from the endpoint.
    func originalRequest(
        of target: ResolvedTarget,
        by requestClosure: @escaping @Sendable (Endpoint) async throws -> URLRequest
    ) async throws -> URLRequest {
        try context.options.timeout.check()
        return try checked(try await cancellable { try await requestClosure(target.endpoint) }, of: target)
    }

    private func checked(_ request: URLRequest, of target: ResolvedTarget) throws -> URLRequest {
        // Encoding a body can take a long time. A plain call checks the interruption before it sends the request.
        if !plugins.isEmpty || kind != .response || target.endpoint.task.driver != nil { try checkCancellation() }
        if context.options.isEmpty { return request }
        var request = request
        request.refuse(context.options.refusedNetworks)
        return request
    }

    /// Prepares the request of an attempt.
    func prepare(
        _ original: URLRequest,
        to target: ResolvedTarget,
        _ context: inout RequestContext
    ) async throws -> TransportRequest {
        let request = try await prepare(original, to: target, in: context)
        context.sentRequest = request.urlRequest
        return request
    }

    /// Returns a request after the plugins' `prepare`.
    ///
    /// - Parameters:
    ///   - body: The body; `nil` for the task's body. The bytes of the request take precedence.
    ///   - restriction: Removes fields added by plugins that must not be sent with this request.
    func prepare(
        _ original: URLRequest,
        body: TransportRequest.Body? = nil,
        to target: ResolvedTarget,
        restriction: (@Sendable (URLRequest) -> URLRequest)? = nil,
        in context: RequestContext
    ) async throws -> TransportRequest {
        do {
            var request = original
            if plugins.prepares {
                request = try await cancellable(in: .prepare) { [plugins] in
                    try await plugins.prepare(original, context: context)
                }
                try checkCancellation()
            }
            guard let restriction else {
                return try transportRequest(request, changedFrom: original, body: body, to: target)
            }
            let allowed = restriction(request)
            var restricted = try transportRequest(allowed, changedFrom: original, body: body, to: target)
            restricted.restriction = restriction
            return restricted
        } catch {
            throw failure(error, at: .request, request: original)
        }
    }

    /// Decodes the response of a success. Adds the envelope's error details to a failure.
    func decoded(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        switch result {
        case .success(let response):
            guard let decoding else { return result }
            do {
                try decoding.decode(response)
                return result
            } catch {
                return .failure(failure(error, at: .decoding, request: response.request))
            }
        case .failure(let error):
            guard let envelope = context.options.envelope else { return result }
            return .failure(error.explained(by: envelope))
        }
    }

    /// Waits for the delay that a plugin requests before another attempt, and returns it; `nil` if no plugin requests
    /// one.
    private func delayBeforeRetry(_ attempt: inout Attempt, context: RequestContext) async -> Duration? {
        guard attempt.canBeRetried, interruption == nil else { return nil }
        let result = attempt.result
        let decision =
            if isDirect(.retry) {
                await plugins.retry(result, context: context)
            } else {
                await cancellable(in: .retry) { [plugins] in await plugins.retry(result, context: context) }
            }
        switch decision {
        case .doNotRetry: return nil
        case .fail(let error): attempt = Attempt(failure(error, at: .transport), isShared: attempt.isShared)
        case .retry(let delay):
            // The call would time out instead of returning this result.
            if delay > .zero, let remainingTime = context.remainingTime, delay >= remainingTime { return nil }
            do {
                if delay > .zero {
                    try await cancellable { [clock = configuration.clock] in try await clock.wait(for: delay) }
                }
                handle.revokeCommit()
                try checkCancellation()
                return delay
            } catch {
                attempt = Attempt(failure(error, at: .cancelled), isShared: attempt.isShared)
            }
        }
        return nil
    }

    /// Maps an error with the target's ``ErrorMappingTarget``.
    func mapped(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        guard configuration.mapsErrors, let target = context.target as? any ErrorMappingTarget else { return result }
        // The app's code may have cancelled the call or taken a long time.
        return unlessInterrupted(target.mapped(result))
    }

    /// Passes the result through the plugins' `process`. A replaced response is decoded again.
    private func process(
        _ result: Result<Response, TargetKitError>,
        _ context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let processed = await cancellable(in: .process) { [plugins] in
            await plugins.process(result, context: context)
        }
        // A response created by a plugin has neither.
        .map { $0.target == nil ? $0.of(context.target, decoder: context.options.decoder) : $0 }
        if case .success(let response) = processed, decoding != nil, !response.isUnchanged(from: result) {
            return unlessInterrupted(decoded(processed))
        }
        return unlessInterrupted(processed)
    }
}

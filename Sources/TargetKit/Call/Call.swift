// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One call of a provider, from its target to its result. Every call goes through ``run(_:)``.
///
/// The type is not generic over the target, so it is compiled once.
package final class Call: Sendable {
    /// How the body of the response reaches the caller.
    package enum Delivery: Sendable {
        /// Complete, in memory or in a file, depending on the task.
        case response
        /// As it arrives. About `buffer` bytes at most wait for the reader.
        case stream(buffer: Int)

        package var isStream: Bool {
            if case .stream = self { true } else { false }
        }
    }

    /// Decodes the caller's value from a response, and stores it.
    struct Decoding: Sendable {
        // A wrapper, because an optional function with typed throws requires macOS 15.
        let decode: @Sendable (Response) throws(TargetKitError) -> Void
    }

    /// The results of the provider's closures for a target.
    package struct Resolved: Sendable {
        package let endpoint: Endpoint
        let stub: StubBehavior
    }

    /// The provider's configuration.
    package let configuration: CallConfiguration
    let plugins: PluginChain
    /// The context of the first attempt, which plugins receive.
    package let context: RequestContext
    /// Whether the scope has accepted the call.
    let isAccepted: Bool
    /// When the call started, or `nil` if no plugin wants to know.
    let start: ContinuousClock.Instant?
    package let delivery: Delivery
    /// Whether the call shares its exchange with identical calls.
    package let isShared: Bool
    /// Whether the call is itself a shared exchange. Its waiters each apply their own envelope to a failure.
    package let isSharedExchange: Bool
    /// Whether the call has its own task; cancelling it cancels whatever the call waits for. Otherwise the call runs in
    /// the caller's task, and what it waits for is cancelled by the handle.
    let hasOwnTask: Bool
    /// The exchange timeout from the call's own options.
    let exchangeTimeout: Duration?
    /// Receives the progress of transports; `nil` if there is no observer.
    package let progress: (@Sendable (TransferProgress) -> Void)?
    /// What ``progress`` belongs to; `nil` for a shared exchange, whose calls have their own.
    let meter: ProgressMeter?
    /// Decodes the value; `nil` if the caller asked for the response.
    let decoding: Decoding?

    package var handle: RequestHandle { context.handle }

    init(
        _ configuration: CallConfiguration,
        plugins: PluginChain,
        context: RequestContext,
        isAccepted: Bool = true,
        delivery: Delivery = .response,
        isShared: Bool = false,
        isSharedExchange: Bool = false,
        hasOwnTask: Bool = true,
        exchangeTimeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        meter: ProgressMeter? = nil,
        decoding: Decoding? = nil
    ) {
        self.configuration = configuration
        self.plugins = plugins
        self.context = context
        self.isAccepted = isAccepted
        start = plugins.finishes ? .now : nil
        self.delivery = delivery
        self.isShared = isShared
        self.isSharedExchange = isSharedExchange
        self.hasOwnTask = hasOwnTask
        self.exchangeTimeout = exchangeTimeout
        self.progress = progress ?? meter.map { meter in { @Sendable in meter.receive($0) } }
        self.meter = meter
        self.decoding = decoding
    }

    /// Returns a call for a part of this one, in a context of its own.
    func part(in context: RequestContext) -> Call {
        Call(
            configuration,
            plugins: plugins,
            context: context,
            isSharedExchange: true,
            exchangeTimeout: exchangeTimeout
        )
    }

    /// Runs the call: endpoint → request → attempts → error mapping → the plugins' `process`.
    func run(_ resolve: () throws -> Resolved) async -> Result<Response, TargetKitError> {
        var context = context
        var result: Result<Response, TargetKitError>
        do {
            try context.options.timeout.check()
            let target = try resolved(resolve)
            let request = try await originalRequest(of: target.endpoint)
            result = await attempts(of: request, to: target, &context)
            if let driver = target.endpoint.task.driver {
                result = result.afterTransfer(context.transfer)
                await driver.end(result, over: CallExchanges(self, of: request, to: target, context))
            }
            if case .success = result { meter?.finish() }
        } catch {
            result = .failure(failure(error, at: .request))
        }
        return await process(mapped(ended(result)), context)
    }

    /// Repeats attempts until no plugin asks for a retry.
    ///
    /// - Parameter prepared: The prepared request of the first attempt, if there is one.
    func attempts(
        of original: URLRequest,
        to target: Resolved,
        prepared: TransportRequest? = nil,
        _ context: inout RequestContext
    ) async -> Result<Response, TargetKitError> {
        var failed: [FailedAttempt] = []
        var prepared = prepared
        do {
            while true {
                let attempt = try await attempt(original, to: target, prepared, &context)
                let (received, result) = (attempt.result, decoded(attempt.result))
                // A shared exchange asks the plugins about its own failures.
                let isAsked = attempt.isShared ? received.isSuccess && !result.isSuccess : !result.isEndedByPlugin
                guard isAsked, let delay = try await delayBeforeRetry(result, context) else {
                    return (isSharedExchange ? received : result).after(failed)
                }
                failed.append(FailedAttempt(result, delay: delay))
                context.attempt += 1
                handle.attempt = context.attempt
                handle.revokeCommit()
                prepared = nil
            }
        } catch {
            return .failure(failure(error, at: .request)).after(failed)
        }
    }

    /// Makes one attempt: in an exchange that it shares, by the driver of the task, or with one exchange.
    private func attempt(
        _ original: URLRequest,
        to target: Resolved,
        _ prepared: TransportRequest?,
        _ context: inout RequestContext
    ) async throws -> (result: Result<Response, TargetKitError>, isShared: Bool) {
        let driver = target.endpoint.task.driver
        if let driver, !isShared || !target.endpoint.task.isShareable {
            return (try await driven(by: driver, original, to: target, prepared, &context), false)
        }
        let request = if let prepared { prepared } else { try await prepare(original, for: target, context) }
        context.sentRequest = request.urlRequest
        if isShared, let result = try await sharedExchange(request, of: original, with: target, context) {
            return (result, true)
        }
        if let driver { return (try await driven(by: driver, original, to: target, request, &context), false) }
        let result = try await exchange(request, with: target, &context) { [context] call, request in
            try call.response(await call.transfer(request, to: target), context.target.validation)
        }
        return (result, false)
    }

    /// Makes one attempt of a call whose task has a driver.
    private func driven(
        by driver: any TransferDriver,
        _ original: URLRequest,
        to target: Resolved,
        _ prepared: TransportRequest?,
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
}

// MARK: - The stages

extension Call {
    func resolved(_ resolve: () throws -> Resolved) throws -> Resolved {
        do {
            try checkCancellation()
            if let type = plugins.repeatedType { throw InvalidRequest.twoPlugins(type: type) }
            return try resolve()
        } catch {
            throw failure(error, at: .endpoint)
        }
    }

    /// Returns the endpoint's request, from which each attempt starts.
    func originalRequest(of endpoint: Endpoint) async throws -> URLRequest {
        var request =
            if let requestClosure = configuration.requestClosure {
                try await cancellable { try await requestClosure(endpoint) }
            } else {
                try endpoint.urlRequest()
            }
        // Encoding a body may have taken long.
        try checkCancellation()
        let refusedNetworks = context.options.refusedNetworks
        if !refusedNetworks.isEmpty { request.refuse(refusedNetworks) }
        return request
    }

    func prepare(
        _ original: URLRequest,
        for target: Resolved,
        _ context: RequestContext
    ) async throws -> TransportRequest {
        try await prepare(original, context) { try self.transportRequest($0, to: target) }
    }

    func prepare(
        _ original: URLRequest,
        _ context: RequestContext,
        _ transportRequest: (URLRequest) throws -> TransportRequest
    ) async throws -> TransportRequest {
        do {
            let request =
                plugins.prepares
                ? try await cancellable(in: .prepare) { [plugins] in
                    try await plugins.prepare(original, context: context)
                }
                : original
            try checkCancellation()
            return try transportRequest(request)
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

    /// Returns the delay that a plugin requests before another attempt, after waiting for it; `nil`: there is none.
    private func delayBeforeRetry(
        _ result: Result<Response, TargetKitError>,
        _ context: RequestContext
    ) async throws -> Duration? {
        guard plugins.retries, interruption == nil else { return nil }
        switch await cancellable(in: .retry, { [plugins] in await plugins.retry(result, context: context) }) {
        case .doNotRetry: return nil
        case .fail(let error): throw failure(error, at: .transport)
        case .retry(let delay):
            // The call would time out instead of returning what it has.
            if delay > .zero, let remainingTime = context.remainingTime, delay >= remainingTime { return nil }
            do {
                if delay > .zero {
                    try await cancellable { [clock = configuration.clock] in try await clock.wait(for: delay) }
                }
                try checkCancellation()
                return delay
            } catch {
                throw failure(error, at: .cancelled)
            }
        }
    }

    /// Maps an error with the target's ``ErrorMappingTarget``.
    func mapped(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        guard configuration.mapsErrors, let target = context.target as? any ErrorMappingTarget else { return result }
        return target.mapped(result)
    }

    /// Passes the result through the plugins' `process`. A response that they replace is decoded again.
    private func process(
        _ result: Result<Response, TargetKitError>,
        _ context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard plugins.processes else { return result }
        let processed = await cancellable(in: .process) { [plugins] in
            await plugins.process(result, context: context)
        }
        // A response that a plugin has created has neither.
        .map { $0.target == nil ? $0.of(context.target, decoder: context.options.decoder) : $0 }
        if case .success(let response) = processed, decoding != nil, !response.isUnchanged(from: result) {
            return ended(decoded(processed))
        }
        return ended(processed)
    }
}

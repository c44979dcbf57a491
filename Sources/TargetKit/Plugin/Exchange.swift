// SPDX-License-Identifier: MIT

/// The plugins and the transport that follow a plugin in its ``Plugin/exchange(_:context:next:)``.
///
/// ```swift
/// func exchange(
///     _ request: TransportRequest,
///     context: RequestContext,
///     next: Exchange
/// ) async throws -> TransportResponse {
///     let start = ContinuousClock.now
///     let response = try await next(request)
///     log(context.id, start.duration(to: .now))
///     return response
/// }
/// ```
public struct Exchange: Sendable {
    private enum Rest: Sendable {
        case chain(ExchangeChain, position: Int)
        /// For a test.
        case closure(@Sendable (TransportRequest) async throws -> TransportResponse)
    }

    private let rest: Rest

    /// Creates an exchange, to test a plugin.
    ///
    /// - Parameter respond: Returns the response to a request.
    public init(_ respond: @escaping @Sendable (TransportRequest) async throws -> TransportResponse) {
        rest = .closure(respond)
    }

    init(_ chain: ExchangeChain, position: Int) {
        rest = .chain(chain, position: position)
    }

    /// Whether a plugin at ``PluginPlace/signing`` or later adds secrets to requests that are passed on. If so, the
    /// response may belong to a user that the request doesn't identify yet. `false` in tests.
    public var isSigned: Bool {
        switch rest {
        case .chain(let chain, _): chain.call.plugins.signsExchanges
        case .closure: false
        }
    }

    /// Passes on a request, and returns its response. It may be called once, several times or never.
    ///
    /// - Throws: The error of a following plugin or the transport: a `URLError` or a `CancellationError`.
    public func callAsFunction(_ request: TransportRequest) async throws -> TransportResponse {
        switch rest {
        case .chain(let chain, let position): try await chain.response(to: request, from: position)
        case .closure(let respond): try await respond(request)
        }
    }

    /// Passes on a request in a separate task that can outlive the call. The call's scope can cancel the task, and
    /// waits for it when the scope is shut down.
    ///
    /// The preceding plugins surround this exchange too, so they see, for example, the cookies that its response sets.
    ///
    /// - Parameters:
    ///   - request: The request; its progress isn't reported.
    ///   - finish: Receives the result and the context of this exchange, because the call may have ended.
    /// - Returns: Whether the exchange begins. If `false`, the scope is shut down and `finish` isn't called.
    @discardableResult
    public func inBackground(
        _ request: TransportRequest,
        finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool {
        switch rest {
        case .chain(let chain, let position):
            return chain.begin(request, behind: position - 1, finish)
        case .closure(let respond):
            let context = RequestContext(target: URLTarget(request.urlRequest.url ?? URL(filePath: "/")))
            Task { await finish(await Result.of { try await respond(request) }, context) }
            return true
        }
    }
}

extension Exchange {
    /// Whether the call would accept a response that it doesn't receive, such as that of
    /// ``inBackground(_:finish:)``: its status, its envelope, the plugins, and the target's ``ErrorMappingTarget``. Its
    /// value isn't decoded. `true` in tests.
    ///
    /// - Parameters:
    ///   - response: A response with its body in memory.
    ///   - request: The request that it responds to.
    public func accepts(_ response: TransportResponse, to request: TransportRequest) -> Bool {
        switch rest {
        case .chain(let chain, _): chain.call.accepts(response, to: request.urlRequest)
        case .closure: true
        }
    }
}

/// The plugins around the exchanges of a call.
struct ExchangeChain: Sendable {
    let call: Call
    let resolved: ResolvedRequest
    let context: RequestContext
    /// The position of the plugin that began the exchange in the background. It doesn't surround the exchange.
    var skipped: Int?

    func response(to request: TransportRequest, from position: Int) async throws -> TransportResponse {
        let plugins = call.plugins.exchanging
        if position < plugins.count {
            if position == skipped { return try await response(to: request, from: position + 1) }
            let next = Exchange(self, position: position + 1)
            return try await plugins[position].exchange(request, context: context, next: next)
        }
        do {
            try RequestCheck.check(request.urlRequest, hasBody: request.body.isBody)
        } catch {
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        // The plugins no longer wait.
        call.configuration.countingClock?.setWaiting(false, call: context.id)
        var response = try await call.transmit(request, over: call.configuration.transport)
        response.request = request.urlRequest
        return response
    }

    /// Begins an exchange that can outlive the call. Returns whether the scope accepts it.
    ///
    /// - Parameter position: The position of the plugin that begins it.
    func begin(
        _ request: TransportRequest,
        behind position: Int,
        _ finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool {
        let handle = RequestHandle(deadline: nil)
        let context = context.ofExchange(handle)
        let scope = context.scope
        guard scope.insert(context, owner: handle, handle: handle) else { return false }
        var request = request
        request.progress = nil
        // A limit of the call ends with it.
        request.deadline = nil
        let chain = ExchangeChain(call: call, resolved: resolved, context: context, skipped: position)
        let task = Task { [request] in
            await finish(await Result.of { try await chain.response(to: request, from: 0) }, context)
            handle.releaseAtEnd()
            scope.remove(context.id)
        }
        handle.attach(task)
        return true
    }
}

// SPDX-License-Identifier: MIT

/// The plugins around the exchanges of a call, from a position on, and the transport.
final class ExchangeChain: FollowingExchange {
    private let call: Call
    private let context: RequestContext
    private let position: Int
    /// The position of the plugin that began the exchange in the background. It doesn't surround the exchange.
    private let skipped: Int?

    init(of call: Call, in context: RequestContext, from position: Int = 0, skipping skipped: Int? = nil) {
        self.call = call
        self.context = context
        self.position = position
        self.skipped = skipped
    }

    var isSigned: Bool { call.plugins.signsExchanges }

    func response(to request: TransportRequest) async throws -> TransportResponse {
        let plugins = call.plugins.exchanging
        guard position < plugins.count else { return try await transmit(request) }
        let next = ExchangeChain(of: call, in: context, from: position + 1, skipping: skipped)
        if position == skipped { return try await next.response(to: request) }
        return try await plugins[position].exchange(request, context: context, next: Exchange(next))
    }

    private func transmit(_ request: TransportRequest) async throws -> TransportResponse {
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

    /// Begins an exchange that the plugin that begins it doesn't surround.
    func begin(
        _ request: TransportRequest,
        _ finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool {
        let handle = RequestHandle(deadline: nil)
        let context = context.ofExchange(handle)
        let scope = context.scope
        guard scope.insert(context, owner: handle) else { return false }
        var request = request
        request.progress = nil
        // A limit of the call ends with it.
        request.deadline = nil
        let chain = ExchangeChain(of: call, in: context, skipping: position - 1)
        let task = Task { [request] in
            await finish(await Result.of { try await chain.response(to: request) }, context)
            handle.releaseAtEnd()
            scope.remove(context.id)
        }
        handle.attach(task)
        return true
    }

    func accepts(_ response: TransportResponse, to request: URLRequest) -> Bool {
        call.accepts(response, to: request)
    }
}

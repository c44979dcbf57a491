// SPDX-License-Identifier: MIT
import TargetKit

extension Provider {
    /// Builds the request of a target without sending it: closures → plugins' `prepare`, signatures last → plugins'
    /// `exchange`.
    ///
    /// Nothing is sent, shared, retried or counted by the provider's scope. Plugins whose place counts, delays, admits
    /// or observes calls aren't called. Of the other plugins, `prepare`, `exchange` and `didFinish` are called, the last
    /// one with a cancellation.
    ///
    /// - Parameter hasPlugins: Whether the plugins prepare the request; default `true`.
    package func unsentRequest(
        of target: Target,
        options: CallOptions = CallOptions(),
        hasPlugins: Bool = true
    ) async throws(TargetKitError) -> TransportRequest {
        let transport = CapturingTransport()
        let provider = replacing(transport: transport) { hasPlugins ? transport.surrounding($0) : [] }
        let failure: TargetKitError
        do {
            let response = try await provider.request(target, options: options.setting(\.sharesInFlight, false))
            failure = TargetKitError(stage: .transport, target: target, response: response)
        } catch {
            failure = error
        }
        guard let request = transport.request.withLock(\.self) else { throw failure }
        return request
    }
}

/// Keeps a request instead of sending it.
private struct CapturingTransport: Transport {
    let request = Locked<TransportRequest?>(nil)

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        self.request.withLock { $0 = request }
        throw CancellationError()
    }

    /// The plugins that can change a request, within one that keeps a request to which another plugin responds.
    func surrounding(_ plugins: [any Plugin]) -> [any Plugin] {
        let secretHeaders = plugins.reduce(into: Set<HTTPHeaderName>()) { $0.formUnion($1.secretHeaders) }
        return [CapturingPlugin(request: request, secretHeaders: secretHeaders)]
            + plugins.filter(\.place.changesRequests).map(\.preparing)
    }
}

private struct CapturingPlugin: Plugin {
    let request: Locked<TransportRequest?>
    let secretHeaders: Set<HTTPHeaderName>
    let place = PluginPlace.start
    let hooks = PluginHooks.exchange

    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let response = try await next(request)
        self.request.withLock { $0 = $0 ?? request }
        return response
    }
}

/// A plugin without the hooks that see responses and attempts.
private struct PreparingPlugin<Prepared: Plugin>: Plugin {
    let plugin: Prepared

    var place: PluginPlace { plugin.place }
    var hooks: PluginHooks { plugin.hooks.intersection([.prepare, .exchange, .didFinish]) }
    var isSingle: Bool { plugin.isSingle }
    var secretHeaders: Set<HTTPHeaderName> { plugin.secretHeaders }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        try await plugin.prepare(request, context: context)
    }

    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        try await plugin.exchange(request, context: context, next: next)
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        plugin.didFinish(call, context: context)
    }
}

extension Plugin {
    fileprivate var preparing: any Plugin { PreparingPlugin(plugin: self) }
}

extension PluginPlace {
    /// Whether plugins at this place can change a request, instead of counting, delaying, admitting or observing calls.
    fileprivate var changesRequests: Bool {
        switch self {
        case .start, .caching, .connectivity, .admission, .rateLimit, .concurrencyLimit, .hedging, .bandwidth: false
        default: self < .errorHandling
        }
    }
}

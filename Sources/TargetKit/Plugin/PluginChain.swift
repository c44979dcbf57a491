// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a provider, asked one after the other.
///
/// Most plugins have one or two of the five hooks, and calling an empty one costs as much as calling another. So the chain finds
/// out which are empty: in the first round of a hook the context carries an ``IdleHooks``, which the hook's default tells whose
/// default it is. From then on those plugins are left out.
struct PluginChain: Sendable {
    /// The plugins that have each hook, as far as it has had its first round. A call takes them with it, so that it asks for the
    /// lock once.
    struct Hooks: Sendable {
        private var known = [[any Plugin]?](repeating: nil, count: PluginHook.allCases.count)

        fileprivate subscript(hook: PluginHook) -> [any Plugin]? {
            get { known[hook.rawValue] }
            set { known[hook.rawValue] = newValue }
        }
    }

    let plugins: [any Plugin]
    /// Those that have the last word about a request.
    let finishers: [any RequestFinisher]
    /// The fields that no redirect takes to another origin.
    let secretHeaders: Set<HTTPHeaderName>
    private let known = Locked(Hooks())

    init(plugins: [any Plugin]) {
        self.plugins = plugins
        finishers = plugins.compactMap { $0 as? any RequestFinisher }
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
    }

    /// What is known of the hooks now.
    var hooks: Hooks { known.withLock { $0 } }

    func prepare(_ request: URLRequest, _ hooks: Hooks, context: RequestContext) async throws -> URLRequest {
        var request = request
        let (asked, context) = round(of: .prepare, hooks, context)
        for plugin in asked { request = try await plugin.prepare(request, context: context) }
        learn(from: context)
        return request
    }

    func willSend(_ request: URLRequest, _ hooks: Hooks, context: RequestContext) {
        if isIdle(.willSend, hooks) { return }
        let (asked, context) = round(of: .willSend, hooks, context)
        for plugin in asked { plugin.willSend(request, context: context) }
        learn(from: context)
    }

    func didReceive(_ result: Result<Response, TargetKitError>, _ hooks: Hooks, context: RequestContext) {
        if isIdle(.didReceive, hooks) { return }
        let (asked, context) = round(of: .didReceive, hooks, context)
        for plugin in asked { plugin.didReceive(result, context: context) }
        learn(from: context)
    }

    /// The first decision other than `.doNotRetry`.
    func retry(
        _ result: Result<Response, TargetKitError>,
        _ hooks: Hooks,
        context: RequestContext
    ) async -> RetryDecision {
        let (asked, context) = round(of: .retry, hooks, context)
        for plugin in asked {
            let decision = await plugin.retry(result, context: context)
            // Those after the one that decides are not asked, so nothing is learned of them.
            guard case .doNotRetry = decision else { return decision }
        }
        learn(from: context)
        return .doNotRetry
    }

    func process(
        _ result: Result<Response, TargetKitError>,
        _ hooks: Hooks,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        var result = result
        let (asked, context) = round(of: .process, hooks, context)
        for plugin in asked { result = await plugin.process(result, context: context) }
        learn(from: context)
        return result
    }

    /// Whether no plugin has the hook, as far as is known.
    func isIdle(_ hook: PluginHook, _ hooks: Hooks) -> Bool {
        plugins.isEmpty || hooks[hook]?.isEmpty == true
    }

    /// Whom to ask, and with which context: all of them, watched, as long as it is not known who has the hook.
    private func round(
        of hook: PluginHook,
        _ hooks: Hooks,
        _ context: RequestContext
    ) -> (asked: [any Plugin], context: RequestContext) {
        if let known = hooks[hook] { return (known, context) }
        return (plugins, plugins.isEmpty ? context : context.watched(by: IdleHooks(hook)))
    }

    /// Keeps what a whole round has shown, if it was a first one.
    private func learn(from context: RequestContext) {
        guard let idle = context.idleHooks else { return }
        known.withLock { $0[idle.hook] = idle.rest(of: plugins) }
    }
}

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
    /// The plugins that have each hook; `nil` until it has had its first round. A call takes them with it, so that it asks for
    /// the lock once.
    struct Hooks: Sendable {
        fileprivate var prepare: [any Plugin]?
        fileprivate var willSend: [any Plugin]?
        fileprivate var didReceive: [any Plugin]?
        fileprivate var retry: [any Plugin]?
        fileprivate var process: [any Plugin]?

        fileprivate static let none = Hooks(prepare: [], willSend: [], didReceive: [], retry: [], process: [])
    }

    let plugins: [any Plugin]
    /// The fields that no redirect takes to another origin.
    let secretHeaders: Set<HTTPHeaderName>
    private let known: Locked<Hooks>

    init(plugins: [any Plugin]) {
        self.plugins = plugins
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
        known = Locked(plugins.isEmpty ? .none : Hooks())
    }

    /// What is known of the hooks now.
    var hooks: Hooks { plugins.isEmpty ? .none : known.withLock { $0 } }

    func prepare(_ request: URLRequest, _ hooks: Hooks, context: RequestContext) async throws -> URLRequest {
        var request = request
        guard let known = hooks.prepare else {
            let idle = IdleHooks(.prepare)
            let context = context.watched(by: idle)
            for plugin in plugins { request = try await plugin.prepare(request, context: context) }
            self.known.withLock { $0.prepare = idle.rest(of: plugins) }
            return request
        }
        for plugin in known { request = try await plugin.prepare(request, context: context) }
        return request
    }

    func willSend(_ request: URLRequest, _ hooks: Hooks, context: RequestContext) {
        guard let known = hooks.willSend else {
            let idle = IdleHooks(.willSend)
            let context = context.watched(by: idle)
            for plugin in plugins { plugin.willSend(request, context: context) }
            return self.known.withLock { $0.willSend = idle.rest(of: plugins) }
        }
        for plugin in known { plugin.willSend(request, context: context) }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, _ hooks: Hooks, context: RequestContext) {
        guard let known = hooks.didReceive else {
            let idle = IdleHooks(.didReceive)
            let context = context.watched(by: idle)
            for plugin in plugins { plugin.didReceive(result, context: context) }
            return self.known.withLock { $0.didReceive = idle.rest(of: plugins) }
        }
        for plugin in known { plugin.didReceive(result, context: context) }
    }

    /// The first decision other than `.doNotRetry`.
    func retry(
        _ result: Result<Response, TargetKitError>,
        _ hooks: Hooks,
        context: RequestContext
    ) async -> RetryDecision {
        if let known = hooks.retry { return await Self.retry(known, result, context) }
        let idle = IdleHooks(.retry)
        let decision = await Self.retry(plugins, result, context.watched(by: idle))
        // Those after the one that decided have not been asked.
        if case .doNotRetry = decision { known.withLock { $0.retry = idle.rest(of: plugins) } }
        return decision
    }

    private static func retry(
        _ plugins: [any Plugin],
        _ result: Result<Response, TargetKitError>,
        _ context: RequestContext
    ) async -> RetryDecision {
        for plugin in plugins {
            let decision = await plugin.retry(result, context: context)
            if case .doNotRetry = decision { continue }
            return decision
        }
        return .doNotRetry
    }

    func process(
        _ result: Result<Response, TargetKitError>,
        _ hooks: Hooks,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        var result = result
        guard let known = hooks.process else {
            let idle = IdleHooks(.process)
            let context = context.watched(by: idle)
            for plugin in plugins { result = await plugin.process(result, context: context) }
            self.known.withLock { $0.process = idle.rest(of: plugins) }
            return result
        }
        for plugin in known { result = await plugin.process(result, context: context) }
        return result
    }
}

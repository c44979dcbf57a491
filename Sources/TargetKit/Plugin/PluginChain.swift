// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a provider, asked one after the other.
///
/// Most plugins have one or two of the five hooks, and calling an empty one costs as much as calling another. So the chain finds
/// out which are empty: at the first call of a hook the context carries an ``IdleHooks``, which the hook's default tells whose
/// default it is. From then on those plugins are left out.
struct PluginChain: Sendable {
    /// The plugins that have a hook of their own; `nil` until it has been called once.
    private struct Hooks: Sendable {
        var prepare: [any Plugin]?
        var willSend: [any Plugin]?
        var didReceive: [any Plugin]?
        var retry: [any Plugin]?
        var process: [any Plugin]?
    }

    let plugins: [any Plugin]
    /// The fields that no redirect takes to another origin.
    let secretHeaders: Set<HTTPHeaderName>
    private let hooks = Locked(Hooks())

    init(plugins: [any Plugin]) {
        self.plugins = plugins
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
    }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard !plugins.isEmpty else { return request }
        var request = request
        if let known = hooks.withLock(\.prepare) {
            for plugin in known { request = try await plugin.prepare(request, context: context) }
            return request
        }
        let (context, idle) = context.watched()
        for plugin in plugins { request = try await plugin.prepare(request, context: context) }
        hooks.withLock { $0.prepare = idle.rest(of: plugins) }
        return request
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        guard !plugins.isEmpty else { return }
        if let known = hooks.withLock(\.willSend) {
            for plugin in known { plugin.willSend(request, context: context) }
            return
        }
        let (context, idle) = context.watched()
        for plugin in plugins { plugin.willSend(request, context: context) }
        hooks.withLock { $0.willSend = idle.rest(of: plugins) }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard !plugins.isEmpty else { return }
        if let known = hooks.withLock(\.didReceive) {
            for plugin in known { plugin.didReceive(result, context: context) }
            return
        }
        let (context, idle) = context.watched()
        for plugin in plugins { plugin.didReceive(result, context: context) }
        hooks.withLock { $0.didReceive = idle.rest(of: plugins) }
    }

    /// The first decision other than `.doNotRetry`.
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard !plugins.isEmpty else { return .doNotRetry }
        if let known = hooks.withLock(\.retry) { return await retry(known, result, context) }
        let (context, idle) = context.watched()
        let decision = await retry(plugins, result, context)
        // Those after the one that decided have not been asked.
        if case .doNotRetry = decision { hooks.withLock { $0.retry = idle.rest(of: plugins) } }
        return decision
    }

    private func retry(
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
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard !plugins.isEmpty else { return result }
        var result = result
        if let known = hooks.withLock(\.process) {
            for plugin in known { result = await plugin.process(result, context: context) }
            return result
        }
        let (context, idle) = context.watched()
        for plugin in plugins { result = await plugin.process(result, context: context) }
        hooks.withLock { $0.process = idle.rest(of: plugins) }
        return result
    }
}

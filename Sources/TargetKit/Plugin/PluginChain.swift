// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a provider, asked one after the other.
struct PluginChain: Sendable {
    let plugins: [any Plugin]
    /// The fields that no redirect takes to another origin.
    let secretHeaders: Set<HTTPHeaderName>

    init(plugins: [any Plugin]) {
        self.plugins = plugins
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
    }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in plugins { request = try await plugin.prepare(request, context: context) }
        return request
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        for plugin in plugins { plugin.willSend(request, context: context) }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        for plugin in plugins { plugin.didReceive(result, context: context) }
    }

    /// The first decision other than `.doNotRetry`.
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
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
        var result = result
        for plugin in plugins { result = await plugin.process(result, context: context) }
        return result
    }
}

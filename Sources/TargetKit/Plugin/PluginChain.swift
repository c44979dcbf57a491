// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a provider in the order of their places.
struct PluginChain: Sendable {
    /// Sorted by place.
    let plugins: [any Plugin]
    /// The fields that are not sent to another origin after a redirect.
    let secretHeaders: Set<HTTPHeaderName>
    /// The plugins whose `prepare` belongs to the exchange: the places from ``PluginPlace/signing`` on.
    private let signing: ArraySlice<any Plugin>
    private let preparing: ArraySlice<any Plugin>
    /// The plugins in the order in which they are asked to retry.
    private let retrying: [any Plugin]

    init(_ plugins: [any Plugin]) {
        // `sort` is stable, but its documentation does not promise it.
        let sorted = plugins.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        self.plugins = sorted.map(\.element)
        retrying =
            sorted
            .sorted { ($0.element.place.retryPosition, $0.offset) < ($1.element.place.retryPosition, $1.offset) }
            .map(\.element)
        let start = self.plugins.firstIndex { $0.place >= .signing } ?? plugins.count
        preparing = self.plugins[..<start]
        signing = self.plugins[start...]
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
    }

    var isEmpty: Bool { plugins.isEmpty }

    /// Whether plugins change a request after it has been compared for sharing.
    var hasSigning: Bool { !signing.isEmpty }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in preparing { request = try await plugin.prepare(request, context: context) }
        return request
    }

    func sign(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in signing { request = try await plugin.prepare(request, context: context) }
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
        for plugin in retrying {
            let decision = await plugin.retry(result, context: context)
            guard case .doNotRetry = decision else { return decision }
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

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        for plugin in plugins { plugin.didFinish(call, context: context) }
    }
}

// SPDX-License-Identifier: MIT

/// The plugins of a provider, by hook, each in the order of their places.
final class PluginChain: Sendable {
    /// The plugins, in the order of the provider.
    let all: [any Plugin]
    /// Whether a provider has no plugins.
    let isEmpty: Bool
    /// A type of which the provider has two plugins although only one is allowed.
    let repeatedType: String?
    /// The fields that aren't sent to another origin after a redirect.
    let secretHeaders: Set<HTTPHeaderName>
    private let preparing: [any Plugin]
    private let sending: [any Plugin]
    private let receiving: [any Plugin]
    /// The plugins around each exchange, from the outermost to the innermost.
    let exchanging: [any Plugin]
    /// In the order of their `retry`.
    private let retrying: [any Plugin]
    private let rejecting: [any Plugin]
    private let processing: [any Plugin]
    private let finishing: [any Plugin]
    /// Whether any plugin has `exchange`.
    let hasExchange: Bool
    /// Whether a plugin from ``PluginPlace/signing`` on adds secrets.
    let signsExchanges: Bool

    init(_ plugins: [any Plugin]) {
        func list(of hook: PluginHooks, by position: (PluginPlace) -> Int = { $0.rawValue }) -> [any Plugin] {
            plugins.filter { $0.hooks.contains(hook) }
                .ordered { left, right in
                    (position(left.place), left.place) < (position(right.place), right.place)
                }
        }
        preparing = list(of: .prepare)
        sending = list(of: .willSend)
        receiving = list(of: .didReceive)
        exchanging = list(of: .exchange, by: \.exchangePosition)
        retrying = list(of: .retry, by: \.retryPosition)
        rejecting = list(of: .rejectsCredential)
        processing = list(of: .process)
        finishing = list(of: .didFinish)
        all = plugins
        isEmpty = plugins.isEmpty
        repeatedType = Self.repeatedType(in: plugins)
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
        hasExchange = !exchanging.isEmpty
        signsExchanges = exchanging.contains { $0.place >= .signing && !$0.secretHeaders.isEmpty }
    }

    private static func repeatedType(in plugins: [any Plugin]) -> String? {
        var types: Set<ObjectIdentifier> = []
        let repeated = plugins.first { plugin in
            plugin.isSingle && !types.insert(ObjectIdentifier(type(of: plugin))).inserted
        }
        return repeated.map { "\(type(of: $0))" }
    }

    /// The plugins that apply the credential of a user, or sign with a user's key.
    var authenticating: PluginChain {
        PluginChain(preparing.filter { $0.place == .authentication || $0.place == .signing })
    }

    var hasPrepare: Bool { !preparing.isEmpty }
    var hasRetry: Bool { !retrying.isEmpty }
    /// Whether a plugin has `rejectsCredential`.
    var hasRejectsCredential: Bool { !rejecting.isEmpty }
    var hasProcess: Bool { !processing.isEmpty }
    /// Whether a plugin has `didFinish`.
    var hasDidFinish: Bool { !finishing.isEmpty }

    @inline(__always)
    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in preparing { request = try await plugin.prepare(request, context: context) }
        return request
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        for plugin in sending { plugin.willSend(request, context: context) }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        for plugin in receiving { plugin.didReceive(result, context: context) }
    }

    /// The first decision other than `.doNotRetry`.
    @inline(__always)
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        for plugin in retrying {
            let decision = await plugin.retry(result, context: context)
            guard case .doNotRetry = decision else { return decision }
        }
        return .doNotRetry
    }

    func rejectsCredential(_ response: Response, context: RequestContext) -> Bool {
        rejecting.contains { $0.rejectsCredential(response, context: context) }
    }

    @inline(__always)
    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        var result = result
        for plugin in processing { result = await plugin.process(result, context: context) }
        return result
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        for plugin in finishing { plugin.didFinish(call, context: context) }
    }
}

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
    private let rounds: Rounds
    /// The plugins around each exchange, from the outermost to the innermost.
    let exchanging: [any Plugin]
    /// Whether any plugin has `exchange`.
    let exchanges: Bool
    /// Whether a plugin from ``PluginPlace/signing`` on adds secrets.
    let signsExchanges: Bool

    /// The plugins of each hook.
    private struct Rounds: Sendable {
        var preparing: [any Plugin]
        var sending: [any Plugin]
        var receiving: [any Plugin]
        /// From the outermost to the innermost.
        var exchanging: [any Plugin]
        /// In the order of their `retry`.
        var retrying: [any Plugin]
        var rejecting: [any Plugin]
        var processing: [any Plugin]
        var finishing: [any Plugin]
    }

    init(_ plugins: [any Plugin]) {
        func visited(in hook: PluginHooks, by position: (PluginPlace) -> Int = { $0.rawValue }) -> [any Plugin] {
            // `sort` is stable, but its documentation doesn't guarantee it.
            plugins.enumerated().filter { $0.element.hooks.contains(hook) }
                .sorted { left, right in
                    let (first, second) = (left.element.place, right.element.place)
                    return (position(first), first, left.offset) < (position(second), second, right.offset)
                }
                .map(\.element)
        }
        let rounds = Rounds(
            preparing: visited(in: .prepare),
            sending: visited(in: .willSend),
            receiving: visited(in: .didReceive),
            exchanging: visited(in: .exchange, by: \.exchangePosition),
            retrying: visited(in: .retry, by: \.retryPosition),
            rejecting: visited(in: .rejectsCredential),
            processing: visited(in: .process),
            finishing: visited(in: .didFinish)
        )
        self.rounds = rounds
        all = plugins
        isEmpty = plugins.isEmpty
        repeatedType = Self.repeatedType(in: plugins)
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
        exchanging = rounds.exchanging
        exchanges = !exchanging.isEmpty
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
        PluginChain(rounds.preparing.filter { $0.place == .authentication || $0.place == .signing })
    }

    var prepares: Bool { !rounds.preparing.isEmpty }
    var retries: Bool { !rounds.retrying.isEmpty }
    /// Whether a plugin has `rejectsCredential`.
    var rejectsCredentials: Bool { !rounds.rejecting.isEmpty }
    var processes: Bool { !rounds.processing.isEmpty }
    /// Whether a plugin has `didFinish`.
    var finishes: Bool { !rounds.finishing.isEmpty }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in rounds.preparing { request = try await plugin.prepare(request, context: context) }
        return request
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        for plugin in rounds.sending { plugin.willSend(request, context: context) }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        for plugin in rounds.receiving { plugin.didReceive(result, context: context) }
    }

    /// The first decision other than `.doNotRetry`.
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        for plugin in rounds.retrying {
            let decision = await plugin.retry(result, context: context)
            guard case .doNotRetry = decision else { return decision }
        }
        return .doNotRetry
    }

    func rejectsCredential(_ response: Response, context: RequestContext) -> Bool {
        rounds.rejecting.contains { $0.rejectsCredential(response, context: context) }
    }

    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        var result = result
        for plugin in rounds.processing { result = await plugin.process(result, context: context) }
        return result
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        for plugin in rounds.finishing { plugin.didFinish(call, context: context) }
    }
}

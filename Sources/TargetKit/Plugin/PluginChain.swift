// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a provider, by hook, each in the order of their places.
final class PluginChain: Sendable {
    /// Whether a provider has no plugins.
    let isEmpty: Bool
    /// The type of two plugins of which a provider can have only one.
    let repeatedType: String?
    /// The fields that are not sent to another origin after a redirect.
    let secretHeaders: Set<HTTPHeaderName>
    private let rounds: Rounds
    /// The hooks in which a plugin may wait.
    let waitingHooks: PluginHooks
    private let admitting: [any AdmittingPlugin]
    /// The plugin that takes part in each exchange, if there is one.
    let exchange: (any ExchangePlugin)?
    /// Whether there is such a plugin.
    let exchanges: Bool

    /// The plugins that a hook visits.
    private struct Rounds: Sendable {
        var preparing: [any Plugin]
        /// The plugins whose `prepare` belongs to the exchange: the places from ``PluginPlace/rateLimit`` on.
        var signing: [any Plugin]
        var sending: [any Plugin]
        var receiving: [any Plugin]
        /// In the order in which they are asked to retry.
        var retrying: [any Plugin]
        var processing: [any Plugin]
        var finishing: [any Plugin]
    }

    convenience init(_ plugins: [any Plugin]) {
        // `sort` is stable, but its documentation does not promise it.
        let sorted = plugins.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        let inOrder = sorted.map(\.element)
        let retrying = inOrder.enumerated().sorted {
            ($0.element.place.retryPosition, $0.offset) < ($1.element.place.retryPosition, $1.offset)
        }
        self.init(
            Rounds(
                preparing: inOrder.filter { $0.hooks.contains(.prepare) && $0.place < .rateLimit },
                signing: inOrder.filter { $0.hooks.contains(.prepare) && $0.place >= .rateLimit },
                sending: inOrder.filter { $0.hooks.contains(.willSend) },
                receiving: inOrder.filter { $0.hooks.contains(.didReceive) },
                retrying: retrying.map(\.element).filter { $0.hooks.contains(.retry) },
                processing: inOrder.filter { $0.hooks.contains(.process) },
                finishing: inOrder.filter { $0.hooks.contains(.didFinish) }
            ),
            isEmpty: plugins.isEmpty,
            repeatedType: Self.repeatedType(in: plugins),
            secretHeaders: plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) },
            admitting: inOrder.compactMap { $0 as? any AdmittingPlugin },
            exchange: inOrder.lazy.compactMap { $0 as? any ExchangePlugin }.first
        )
    }

    private init(
        _ rounds: Rounds,
        isEmpty: Bool,
        repeatedType: String?,
        secretHeaders: Set<HTTPHeaderName>,
        admitting: [any AdmittingPlugin],
        exchange: (any ExchangePlugin)?
    ) {
        self.rounds = rounds
        self.exchange = exchange
        exchanges = exchange != nil
        self.admitting = admitting
        self.isEmpty = isEmpty
        self.repeatedType = repeatedType
        self.secretHeaders = secretHeaders
        var waitingHooks: PluginHooks = []
        if rounds.preparing.canWait || rounds.signing.canWait { waitingHooks.insert(.prepare) }
        if rounds.retrying.canWait { waitingHooks.insert(.retry) }
        if rounds.processing.canWait { waitingHooks.insert(.process) }
        self.waitingHooks = waitingHooks
    }

    private static func repeatedType(in plugins: [any Plugin]) -> String? {
        var types: Set<ObjectIdentifier> = []
        let repeated = plugins.first { plugin in
            plugin is any SinglePlugin && !types.insert(ObjectIdentifier(type(of: plugin))).inserted
        }
        return repeated.map { "\(type(of: $0))" }
    }

    /// Whether no plugin would refuse a call to a URL's server now.
    func admits(_ url: URL) -> Bool { admitting.allSatisfy { $0.admits(url) } }

    /// Returns this chain for a request that is not sent: without the plugins that only count, delay, admit or observe
    /// calls.
    func withoutObservers() -> PluginChain {
        func changing(_ plugins: [any Plugin]) -> [any Plugin] { plugins.filter { $0.place.changesRequests } }
        let rounds = Rounds(
            preparing: changing(rounds.preparing),
            signing: changing(rounds.signing),
            sending: [],
            receiving: [],
            retrying: [],
            processing: [],
            finishing: changing(rounds.finishing)
        )
        return PluginChain(
            rounds,
            isEmpty: isEmpty,
            repeatedType: repeatedType,
            secretHeaders: secretHeaders,
            admitting: admitting,
            exchange: exchange
        )
    }

    var prepares: Bool { !rounds.preparing.isEmpty }
    /// Whether plugins change a request after it has been compared for sharing.
    var signs: Bool { !rounds.signing.isEmpty }
    var retries: Bool { !rounds.retrying.isEmpty }
    var processes: Bool { !rounds.processing.isEmpty }
    /// Whether a plugin wants to know when a call has ended.
    var finishes: Bool { !rounds.finishing.isEmpty }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in rounds.preparing { request = try await plugin.prepare(request, context: context) }
        return request
    }

    /// Prepares and signs a request without the network, as far as the plugins can.
    func prepareOffline(_ request: URLRequest, context: RequestContext) async -> URLRequest {
        var request = request
        for plugin in rounds.preparing + rounds.signing where plugin.place.changesRequests {
            let prepared =
                if let plugin = plugin as? any OfflinePreparingPlugin {
                    try? await plugin.prepareOffline(request, context: context)
                } else {
                    try? await plugin.prepare(request, context: context)
                }
            request = prepared ?? request
        }
        return request
    }

    func sign(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        for plugin in rounds.signing { request = try await plugin.prepare(request, context: context) }
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

/// A plugin of which a provider can have only one. Each call of a provider with two fails, and its error names the
/// type.
package protocol SinglePlugin: Plugin {}

/// A plugin that refuses calls to some servers, so that another plugin can choose a server that it does not refuse.
package protocol AdmittingPlugin: Plugin {
    /// Whether a call to a URL's server would be sent now.
    func admits(_ url: URL) -> Bool
}

extension PluginPlace {
    /// Whether plugins at this place can change a request, instead of counting, delaying, admitting or observing calls.
    fileprivate var changesRequests: Bool {
        switch self {
        case .start, .connectivity, .admission, .rateLimit, .concurrencyLimit: false
        default: self < .errorHandling
        }
    }
}

extension [any Plugin] {
    fileprivate var canWait: Bool { contains { $0.hooks.contains(.waiting) } }
}

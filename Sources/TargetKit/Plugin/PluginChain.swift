// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a provider, by hook, each in the order of their places.
///
/// A plugin is left out of the hooks that it does not implement: six calls of hooks that do nothing take 0.25 µs, as
/// the first idle plugin of `Benchmarks calls` shows. The defaults of the hooks note the types that use them, because
/// Swift cannot tell in advance.
final class PluginChain: Sendable {
    /// Whether a provider has no plugins.
    let isEmpty: Bool
    /// The type of two plugins of which a provider can have only one.
    let repeatedType: String?
    /// The fields that are not sent to another origin after a redirect.
    let secretHeaders: Set<HTTPHeaderName>
    private let preparing: [any Plugin]
    /// The plugins whose `prepare` belongs to the exchange: the places from ``PluginPlace/signing`` on.
    private let signing: [any Plugin]
    private let sending: [any Plugin]
    private let receiving: [any Plugin]
    /// The plugins in the order in which they are asked to retry.
    private let retrying: [any Plugin]
    private let processing: [any Plugin]
    private let finishing: [any Plugin]

    init(_ plugins: [any Plugin]) {
        // `sort` is stable, but its documentation does not promise it.
        let sorted = plugins.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        let inOrder = sorted.map(\.element)
        isEmpty = plugins.isEmpty
        repeatedType = Self.repeatedType(in: plugins)
        secretHeaders = plugins.reduce(HeaderRedaction.standard.secretNames) { $0.union($1.secretHeaders) }
        preparing = inOrder.filter { $0.place < .signing }
        signing = inOrder.filter { $0.place >= .signing }
        (sending, receiving, processing, finishing) = (inOrder, inOrder, inOrder, inOrder)
        retrying =
            sorted
            .sorted { ($0.element.place.retryPosition, $0.offset) < ($1.element.place.retryPosition, $1.offset) }
            .map(\.element)
    }

    /// Creates a chain without the hooks that types do not implement.
    private init(_ chain: PluginChain, without unimplemented: UnimplementedHooks) {
        isEmpty = chain.isEmpty
        repeatedType = chain.repeatedType
        secretHeaders = chain.secretHeaders
        preparing = unimplemented.removed(from: chain.preparing, .prepare)
        signing = unimplemented.removed(from: chain.signing, .prepare)
        sending = unimplemented.removed(from: chain.sending, .willSend)
        receiving = unimplemented.removed(from: chain.receiving, .didReceive)
        retrying = unimplemented.removed(from: chain.retrying, .retry)
        processing = unimplemented.removed(from: chain.processing, .process)
        finishing = unimplemented.removed(from: chain.finishing, .didFinish)
    }

    private static func repeatedType(in plugins: [any Plugin]) -> String? {
        var types: Set<ObjectIdentifier> = []
        let repeated = plugins.first {
            $0 is any SinglePlugin && !types.insert(ObjectIdentifier(type(of: $0))).inserted
        }
        return repeated.map { "\(type(of: $0))" }
    }

    /// Returns this chain without the hooks that types do not implement.
    func without(_ unimplemented: UnimplementedHooks) -> PluginChain {
        PluginChain(self, without: unimplemented)
    }

    var prepares: Bool { !preparing.isEmpty }
    /// Whether plugins change a request after it has been compared for sharing.
    var signs: Bool { !signing.isEmpty }
    var retries: Bool { !retrying.isEmpty }
    var processes: Bool { !processing.isEmpty }
    /// Whether a plugin wants to know when a call has ended.
    var finishes: Bool { !finishing.isEmpty }

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
        for plugin in sending { plugin.willSend(request, context: context) }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        for plugin in receiving { plugin.didReceive(result, context: context) }
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
        for plugin in processing { result = await plugin.process(result, context: context) }
        return result
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        for plugin in finishing { plugin.didFinish(call, context: context) }
    }
}

/// A plugin of which a provider can have only one. Each call of a provider with two fails, and its error names the type.
package protocol SinglePlugin: Plugin {}

/// A hook of ``Plugin``.
enum PluginHook: Sendable {
    case prepare, willSend, didReceive, retry, process, didFinish
}

/// The hooks whose defaults have been called, by the plugin's type. Whether a type implements a hook never changes.
struct UnimplementedHooks: Sendable {
    private var types: [PluginHook: Set<ObjectIdentifier>] = [:]

    var isEmpty: Bool { types.isEmpty }

    mutating func insert(_ type: any Plugin.Type, _ hook: PluginHook) {
        types[hook, default: []].insert(ObjectIdentifier(type))
    }

    /// Adds other hooks. Returns whether any of them is new.
    mutating func formUnion(_ other: UnimplementedHooks) -> Bool {
        let merged = types.merging(other.types) { $0.union($1) }
        defer { types = merged }
        return merged != types
    }

    fileprivate func removed(from plugins: [any Plugin], _ hook: PluginHook) -> [any Plugin] {
        guard let types = types[hook] else { return plugins }
        return plugins.filter { !types.contains(ObjectIdentifier(type(of: $0))) }
    }
}

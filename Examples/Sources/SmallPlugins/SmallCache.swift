// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A cache in memory: fresh responses are used, others are validated with their `ETag` (RFC 9111, the part of it that
/// small APIs need).
///
/// A response is stored when its call accepts it, and removed when a call rejects it.
///
/// It shows what a plugin's `exchange` is for. `ResponseCachePlugin` implements the whole RFC.
public final class SmallCache: Plugin {
    /// The fields that decide whose response it is. A request with other secrets is not cached.
    private static let identifying: Set<HTTPHeaderName> = [.authorization, .cookie]

    private struct Key: Hashable {
        let url: URL
        let credentials: [String?]
    }

    private struct Stored {
        let head: ResponseHead
        let body: Data
        let freshUntil: ContinuousClock.Instant
    }

    private let stored = Mutex<[Key: Stored]>([:])
    private let limit: Int

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The number of responses that it keeps; default: 100.
    public init(limit: Int = 100) {
        self.limit = limit
    }

    /// Around everything that needs the network.
    public var place: PluginPlace { .caching }

    /// Only the exchange, in which it does not wait itself.
    public var hooks: PluginHooks { .exchange }

    /// Answers from memory, or passes the request on and keeps its response.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard !next.isSigned, let key = key(of: request, context) else { return try await next(request) }
        let known = stored.withLock { $0[key] }
        if let known, known.freshUntil > .now { return answer(known, for: key) }
        var request = request
        if let known { request.urlRequest.setValue(known.head.headers["ETag"], forHTTPHeaderField: "If-None-Match") }
        var response = try await next(request)
        if let known, response.head.statusCode == 304 {
            store(known.head, known.body, for: key, response.head)
            return answer(known, for: key)
        }
        if case .data(let body) = response.body, response.head.statusCode == 200, isOfUser(response, request, context) {
            response.onDecision { [self, head = response.head] isAccepted in
                if isAccepted { store(head, body, for: key, head) }
            }
        }
        return response
    }

    /// `nil` for a request that is not cached.
    private func key(of request: TransportRequest, _ context: RequestContext) -> Key? {
        let urlRequest = request.urlRequest
        guard urlRequest.httpMethod ?? "GET" == "GET", case .memory = request.destination, let url = urlRequest.url,
            urlRequest.value(forHTTPHeaderField: "Range") == nil, others(in: urlRequest, context).isEmpty
        else { return nil }
        let fields = Self.identifying.map(\.rawValue).sorted()
        return Key(url: url, credentials: fields.map { urlRequest.value(forHTTPHeaderField: $0) })
    }

    /// Whether no plugin has added a secret to the request after this one has seen it.
    private func isOfUser(
        _ response: TransportResponse,
        _ request: TransportRequest,
        _ context: RequestContext
    ) -> Bool {
        guard let sent = response.request else { return true }
        let isSame = Self.identifying.allSatisfy { name in
            let name = name.rawValue
            return sent.value(forHTTPHeaderField: name) == request.urlRequest.value(forHTTPHeaderField: name)
        }
        return isSame && others(in: sent, context).isEmpty
    }

    private func others(in request: URLRequest, _ context: RequestContext) -> [String] {
        (request.allHTTPHeaderFields ?? [:]).keys.filter { name in
            let name = HTTPHeaderName(rawValue: name)
            return context.secretHeaders.contains(name) && !Self.identifying.contains(name)
        }
    }

    /// Keeps a response if the server allows it, or removes the one that it replaces.
    private func store(_ head: ResponseHead, _ body: Data, for key: Key, _ latest: ResponseHead) {
        let directives = latest.headers.values(for: "Cache-Control").joined(separator: ",").lowercased()
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let maxAge = directives.first { $0.hasPrefix("max-age=") }.flatMap { Int($0.dropFirst("max-age=".count)) } ?? 0
        let isUseful = maxAge > 0 || head.headers["ETag"] != nil
        stored.withLock { stored in
            guard isUseful, !directives.contains("no-store"), latest.headers["Vary"] == nil else {
                stored[key] = nil
                return
            }
            if stored.count >= limit, stored[key] == nil { stored.removeAll() }
            let freshUntil = ContinuousClock.now + .seconds(directives.contains("no-cache") ? 0 : maxAge)
            stored[key] = Stored(head: head, body: body, freshUntil: freshUntil)
        }
    }

    private func answer(_ known: Stored, for key: Key) -> TransportResponse {
        var response = TransportResponse(head: known.head, body: .data(known.body))
        response.origin = .cache(age: .zero)
        response.onDecision { [self] isAccepted in
            if !isAccepted { stored.withLock { $0[key] = nil } }
        }
        return response
    }
}

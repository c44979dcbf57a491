// SPDX-License-Identifier: MIT
import TargetKit

/// Sends the cookies of a ``CookieStore``, and stores the cookies that servers set (RFC 6265).
///
/// ```swift
/// let cookies = CookieStore()
/// let catalog = Provider<Catalog>(plugins: [CookiePlugin(cookies)])
/// let orders = Provider<Orders>(plugins: [CookiePlugin(cookies)])
/// ```
///
/// Providers share cookies if their plugins have the same store. Each request, including redirects, is sent with the
/// cookies for its URL, unless it already has a `Cookie` field. Cached responses don't set cookies.
///
/// Cookies are added after the other plugins have prepared the request. Therefore loggers show them (redacted), calls
/// with different cookies don't share an exchange, and cached responses and partial downloads belong to the user whose
/// cookies were sent. Stubbed calls have cookies, but never change the store.
public struct CookiePlugin: Plugin {
    /// The cookies that this plugin added to the request of an attempt.
    private struct Added: Sendable {
        /// The value of the field; `nil` if there were none for the URL, or the request has its own.
        let field: String?
        /// The state of the store when the request was prepared.
        let generation: Int
        /// Whether the request was sent. Later requests of the attempt are redirects.
        var isSent = false
    }

    private let store: CookieStore
    private let added = PluginStorage<Added>()

    /// Creates a plugin.
    ///
    /// - Parameter store: Selects and stores the cookies; default: a new store in memory.
    public init(_ store: CookieStore = CookieStore()) {
        self.store = store
    }

    /// `PluginPlace.cookies`.
    public var place: PluginPlace { .cookies }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .exchange] }

    /// Adds the cookies for the request's URL.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        let isOwn = request.value(forHTTPHeaderField: "Cookie") != nil
        let generation = store.generation
        let field = isOwn ? nil : request.url.flatMap(store.header)
        context[added] = Added(field: field, generation: generation)
        guard let field else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }

    /// Replaces the cookies in the request of a redirect, and stores the cookies of the response.
    ///
    /// - Throws: The error of the exchange.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let request = updated(request, context: context)
        let response = try await next(request)
        guard !response.origin.isCache, let url = (response.request ?? request.urlRequest).url else { return response }
        store.store(response.head.headers.values(for: .setCookie), from: url, generation: context[added]?.generation)
        return response
    }

    private func updated(_ request: TransportRequest, context: RequestContext) -> TransportRequest {
        let added = context[added]
        if var added, !added.isSent {
            added.isSent = true
            context[self.added] = added
            // `prepare` added the cookies of the URL, but a call's cookies are removed from a request to another origin.
            if !request.isCrossOrigin { return request }
        }
        let field = request.urlRequest.value(forHTTPHeaderField: "Cookie")
        guard field == nil || field == added?.field else { return request }
        var request = request
        request.urlRequest.setValue(request.urlRequest.url.flatMap(store.header), forHTTPHeaderField: "Cookie")
        return request
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Keeps the cookies of responses in memory, and sends them back (RFC 6265).
///
/// It shows what a plugin's `exchange` is for: the request of each redirect gets the cookies that are for its URL.
/// `CookieStore` also keeps them on disk, and knows public suffixes.
public final class CookieJar: Plugin {
    private let cookies = Mutex<[HTTPCookie]>([])

    /// Creates an empty jar.
    public init() {}

    /// Around a cache, which has to know whose response it is.
    public var place: PluginPlace { PluginPlace(rawValue: PluginPlace.start.rawValue + 10) }

    /// Only the exchange, in which it does not wait itself.
    public var hooks: PluginHooks { .exchange }

    /// Adds the cookies for the URL, and keeps those of the response.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard let url = request.urlRequest.url else { return try await next(request) }
        var request = request
        let known = cookies.withLock { cookies in cookies.filter { $0.isSent(to: url) } }
        if !known.isEmpty, request.urlRequest.value(forHTTPHeaderField: "Cookie") == nil {
            let text = known.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
            request.urlRequest.setValue(text, forHTTPHeaderField: "Cookie")
        }
        let response = try await next(request)
        for field in response.head.headers.values(for: .setCookie) {
            store(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url), from: url)
        }
        return response
    }

    private func store(_ new: [HTTPCookie], from url: URL) {
        cookies.withLock { cookies in
            for cookie in new where cookie.isSent(to: url, path: false) {
                cookies.removeAll { $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path }
                if !cookie.isExpired { cookies.append(cookie) }
            }
        }
    }
}

extension HTTPCookie {
    fileprivate var isExpired: Bool { expiresDate.map { $0 <= Date() } ?? false }

    /// Whether the cookie is for a URL (RFC 6265 §5.1.3, §5.1.4).
    fileprivate func isSent(to url: URL, path comparesPath: Bool = true) -> Bool {
        guard let host = url.host()?.lowercased(), !isExpired, !isSecure || url.scheme == "https" else { return false }
        let domain = domain.lowercased()
        let isForHost = domain.hasPrefix(".") ? host == domain.dropFirst() || host.hasSuffix(domain) : host == domain
        guard comparesPath else { return isForHost }
        let (asked, own) = (url.path().isEmpty ? "/" : url.path(), path)
        let isForPath = asked == own || asked.hasPrefix(own.hasSuffix("/") ? own : own + "/")
        return isForHost && isForPath
    }
}

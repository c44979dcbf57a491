// SPDX-License-Identifier: MIT
import Foundation

/// What of a request's URL decides about cookies.
struct CookieOrigin: Sendable {
    let host: CookieHost
    /// The path as it is sent, escapes and all; `/` when the URL has none.
    let path: String
    /// Whether nobody on the way can read or write the exchange.
    let isSecure: Bool

    /// `nil` for a URL that takes no part in cookies: another scheme than http and https, or no host.
    init?(_ url: URL) {
        let text = url.absoluteString
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        isSecure = text[..<colon].equalsIgnoringASCIICase("https")
        guard isSecure || text[..<colon].equalsIgnoringASCIICase("http"),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }

        let rest = bytes[bytes.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { Self.authorityEnd.contains($0) } ?? rest.endIndex
        guard let host = Self.host(ofAuthority: text[rest.startIndex..<end]) else { return nil }
        self.host = host
        let path = rest[end...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        self.path = path.isEmpty ? "/" : String(Substring(path))
    }

    private static let authorityEnd = Array("/?#".utf8)

    private static func host(ofAuthority authority: Substring) -> CookieHost? {
        var text = authority
        if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) { text = text[text.utf8.index(after: at)...] }
        if text.utf8.first == UInt8(ascii: "[") {
            guard let close = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            return CookieHost(text[...close])
        }
        return CookieHost(Substring(text.utf8.prefix { $0 != UInt8(ascii: ":") }))
    }
}

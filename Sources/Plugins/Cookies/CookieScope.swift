// SPDX-License-Identifier: MIT
import TargetKit

/// A host or domain in canonical form, in lowercase without brackets (RFC 6265 §5.1.2).
struct CookieHost: Sendable, Hashable {
    let name: String

    /// Returns `nil` for empty text, or text with characters other than ASCII letters, digits and `-._:~`.
    ///
    /// Percent-encoded hosts, which transports may interpret differently, have no cookies.
    init?(_ text: String) {
        var text = text[...]
        if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
            text = text.dropFirst().dropLast()
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0.isLetterOrDigit || Self.marks.contains($0) }) else { return nil }
        name = text.lowercased()
    }

    private static let marks = Array("-._:~".utf8)

    /// Whether the host is an IP address, which has no parent domains. Hosts with a numeric last label, such as `127.1`
    /// and `0x7f.1`, are addresses.
    var isAddress: Bool {
        if name.utf8.contains(UInt8(ascii: ":")) { return true }
        guard let last = labels.last else { return false }
        let isHexadecimal = last.hasPrefix("0x")
        return last.utf8.dropFirst(isHexadecimal ? 2 : 0).allSatisfy {
            $0.isDigit || isHexadecimal && (0x61...0x66).contains($0)
        }
    }

    /// Whether the host is the device itself: `localhost` and its subdomains (RFC 6761 §6.3), 127.0.0.0/8, or `::1`.
    var isLoopback: Bool {
        if name == "localhost" || name.hasSuffix(".localhost") || name == "::1" { return true }
        return name.hasPrefix("127.") && labels.count == 4 && labels.allSatisfy { UInt8($0) != nil }
    }

    /// Whether the host has a single label, like a top-level domain or a host of the local network.
    var isSingleLabel: Bool { labels.count < 2 }

    /// Whether the host matches the domain of a cookie (RFC 6265 §5.1.3).
    func matches(_ domain: CookieHost) -> Bool {
        if name == domain.name { return true }
        guard name.utf8.count > domain.name.utf8.count + 1 else { return false }
        let tail = name.utf8.suffix(domain.name.utf8.count + 1)
        return tail.first == UInt8(ascii: ".") && tail.dropFirst().elementsEqual(domain.name.utf8) && !isAddress
    }

    /// The host, followed by its parent domains.
    var nameAndParents: [String] {
        guard !isAddress else { return [name] }
        var names = [name]
        var rest = name[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if !rest.isEmpty { names.append(String(rest)) }
        }
        return names
    }

    private var labels: [Substring] { name.split(separator: ".") }
}

/// The rules for paths (RFC 6265 §5.1.4).
enum CookiePath {
    /// The path of a cookie without a `Path`: the request's path up to its last `/`.
    static func defaultPath(for requestPath: String) -> String {
        let bytes = requestPath.utf8
        guard bytes.first == UInt8(ascii: "/"),
            let last = bytes.lastIndex(of: UInt8(ascii: "/")), last != bytes.startIndex
        else { return "/" }
        return String(requestPath[..<last])
    }

    /// Whether the request's path matches the path of a cookie.
    static func matches(_ requestPath: String, cookiePath: String) -> Bool {
        let request = requestPath.utf8
        let cookie = cookiePath.utf8
        guard request.prefix(cookie.count).elementsEqual(cookie) else { return false }
        if request.count == cookie.count || cookie.last == UInt8(ascii: "/") { return true }
        return request.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}

/// The parts of a request's URL that determine its cookies.
struct CookieOrigin: Sendable {
    let host: CookieHost
    /// The percent-encoded path; `/` if the URL has none.
    let path: String
    /// Whether the origin may have `Secure` cookies: the scheme is https, or the host is the device itself, as in
    /// browsers.
    let isSecure: Bool

    /// Returns `nil` for a scheme other than http and https, or if there is no host.
    init?(_ url: URL) {
        let bytes = Array(url.absoluteString.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard scheme == "https" || scheme == "http", bytes[colon...].starts(with: Self.schemeEnd) else { return nil }
        let rest = bytes[(colon + Self.schemeEnd.count)...]
        let end = rest.firstIndex { Self.authorityEnd.contains($0) } ?? rest.endIndex
        guard let host = Self.host(ofAuthority: rest[..<end]) else { return nil }
        self.host = host
        isSecure = scheme == "https" || host.isLoopback
        let path = rest[end...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        self.path = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }

    private static let schemeEnd = Array("://".utf8)
    private static let authorityEnd = Array("/?#".utf8)

    private static func host(ofAuthority authority: ArraySlice<UInt8>) -> CookieHost? {
        var text = authority
        if let at = text.lastIndex(of: UInt8(ascii: "@")) { text = text[(at + 1)...] }
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            text = text[...close]
        } else {
            text = text.prefix { $0 != UInt8(ascii: ":") }
        }
        return CookieHost(String(decoding: text, as: UTF8.self))
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A parsed `Set-Cookie` field (RFC 6265 §5.2). `SameSite` and unknown attributes are ignored.
struct SetCookieField {
    let name: String
    let value: String
    private(set) var domain: String?
    /// The last `Path`; `nil` if there is none or it isn't absolute.
    private(set) var path: String?
    private(set) var maxAge: Int64?
    private(set) var expires: Date?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false

    /// Returns `nil` if the field has no `=` or no name, contains control characters, or is too long.
    init?(_ field: String) {
        guard !field.utf8.contains(where: Self.isControl) else { return nil }
        let pieces = Array(field.utf8).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Substring(decoding: $0, as: UTF8.self) }
        let (name, given) = Self.split(pieces.first ?? "")
        guard let value = given, !name.isEmpty else { return nil }
        guard name.utf8.count + value.utf8.count <= Cookie.sizeLimit else { return nil }
        self.name = name
        self.value = value
        for piece in pieces.dropFirst() { read(attribute: piece) }
    }

    /// The expiry date; `nil` for a session cookie. `Max-Age` takes precedence over `Expires`.
    func expiry(from now: Date) -> Date? {
        guard let maxAge else { return expires }
        guard maxAge > 0 else { return .distantPast }
        return min(now.addingTimeInterval(Double(maxAge)), Self.latest)
    }

    /// The last second of the year 9999, the latest date that `Expires` can represent.
    private static let latest = Date(timeIntervalSince1970: 253_402_300_799)
    /// The maximum length of an attribute. Longer attributes are ignored (RFC 6265bis §5.6).
    private static let attributeLimit = 1024

    private mutating func read(attribute: Substring) {
        let (name, given) = Self.split(attribute)
        let value = given ?? ""
        guard value.utf8.count <= Self.attributeLimit else { return }
        switch name.lowercased() {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "domain": if !value.isEmpty { domain = value }
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// The trimmed name and value around the first `=`. Without `=`, there is no value.
    private static func split(_ piece: Substring) -> (name: String, value: String?) {
        guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return (String(piece.trimmingSpaces), nil)
        }
        let value = piece[piece.utf8.index(after: equals)...]
        return (String(piece[..<equals].trimmingSpaces), String(value.trimmingSpaces))
    }

    /// Parses digits with an optional minus sign (§5.2.2). Numbers out of range are clamped.
    private static func seconds(_ text: String) -> Int64? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return isNegative ? -1 : Int64(String(Substring(digits))) ?? .max
    }

    /// Whether a byte is a control character. Fields that contain one are ignored (RFC 6265bis §5.6).
    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }
}

extension SetCookieField {
    /// The cookie that the field sets for the origin (RFC 6265 §5.3); `nil` if the origin must not set it.
    func cookie(from origin: CookieOrigin, at now: Date) -> Cookie? {
        guard origin.isSecure || !isSecure, let scope = scope(for: origin.host) else { return nil }
        let cookie = Cookie(
            name: name,
            value: value,
            domain: scope.domain.name,
            isHostOnly: scope.isHostOnly,
            path: path ?? CookiePath.defaultPath(for: origin.path),
            expires: expiry(from: now),
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            created: now
        )
        // `__Host-` requires an explicit path of `/` (RFC 6265bis §4.1.3.2).
        if path == nil, String(name.prefix(7)).equalsIgnoringASCIICase("__Host-") { return nil }
        return cookie.keepsPrefixRules ? cookie : nil
    }

    /// Steps 4 to 6: the attribute's domain if it contains the host, or the host if there is no attribute.
    private func scope(for host: CookieHost) -> (domain: CookieHost, isHostOnly: Bool)? {
        guard let domain else { return (host, true) }
        let bare = domain.utf8.first == UInt8(ascii: ".") ? String(domain.dropFirst()) : domain
        guard !bare.isEmpty else { return (host, true) }
        guard let parent = CookieHost(bare), host.matches(parent) else { return nil }
        guard parent.isSingleLabel || parent.isAddress else { return (parent, false) }
        return parent == host ? (host, true) : nil
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A cookie in a ``CookieStore`` (RFC 6265 §5.3).
///
/// Its values aren't validated until it is passed to ``CookieStore/set(_:)``.
public struct Cookie: Sendable, Hashable, Codable {
    /// The name, which is case-sensitive.
    public var name: String
    /// The value, including any quotes. It may be a secret, so the description omits it.
    public var value: String
    /// The host or domain, in lowercase, without a leading dot; an IPv6 address has no brackets.
    public var domain: String
    /// Whether the cookie is sent only to ``domain``, and not to its subdomains.
    public var isHostOnly: Bool
    /// The path, starting with `/`. The cookie is sent for this path and the paths below it.
    public var path: String
    /// The expiry date; `nil` for a session cookie, which exists as long as its store and is never written to a file.
    public var expires: Date?
    /// Whether the cookie is sent only over https, and to hosts of the device itself, such as `localhost`.
    public var isSecure: Bool
    /// Whether the server hides the cookie from scripts. It has no effect in TargetKit.
    public var isHTTPOnly: Bool
    /// The date at which a cookie with this name, domain and path was first stored. Older cookies are sent first.
    package var created: Date

    /// Creates a cookie, by default a session cookie for a single host and all its paths.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false
    ) {
        self.init(
            name: name,
            value: value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            expires: expires,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            created: Date()
        )
    }

    package init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        created: Date
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.created = created
    }
}

extension Cookie: RedactedDescription {
    /// The cookie without its value, on one line.
    package var redactedDescription: String {
        var text = "\(name)=\(SecretFields.placeholder); domain=\(domain)\(isHostOnly ? " only" : ""); path=\(path)"
        if let expires { text += "; expires=\(expires.safeDescription)" }
        if isSecure { text += "; secure" }
        if isHTTPOnly { text += "; httpOnly" }
        return text
    }
}

extension Cookie {
    /// The maximum size of a cookie's name and value together, in bytes; RFC 6265 §6.1 requires at least this.
    static let sizeLimit = 4096

    /// Whether the cookie has expired.
    func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether the other cookie replaces this one (RFC 6265 §5.3, step 11).
    func isReplaced(by other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    /// Whether the cookie meets the requirements of its name's prefix (RFC 6265bis §4.1.3): `__Secure-` requires https,
    /// and `__Host-` also a single host and the path `/`. As in browsers, prefixes are case-insensitive.
    var keepsPrefixRules: Bool {
        if String(name.prefix(7)).equalsIgnoringASCIICase("__Host-") { return isSecure && isHostOnly && path == "/" }
        return isSecure || !String(name.prefix(9)).equalsIgnoringASCIICase("__Secure-")
    }
}

extension Cookie {
    /// The cookie with a normalized domain; `nil` if no server could set it.
    var checked: Cookie? {
        let bare = domain.utf8.first == UInt8(ascii: ".") ? String(domain.dropFirst()) : domain
        guard let host = CookieHost(bare), isHostOnly || !host.isSingleLabel && !host.isAddress else { return nil }
        // JSON can't represent a date that isn't finite.
        guard created.timeIntervalSince1970.isFinite, expires?.timeIntervalSince1970.isFinite ?? true else {
            return nil
        }
        var cookie = self
        cookie.domain = host.name
        // Parsing the cookie as a server's field must not change it.
        guard let field = SetCookieField("\(name)=\(value)"), field.name == name, field.value == value,
            path.utf8.first == UInt8(ascii: "/"),
            !path.utf8.contains(where: { $0 == UInt8(ascii: ";") || SetCookieField.isControl($0) }),
            cookie.keepsPrefixRules
        else { return nil }
        return cookie
    }
}

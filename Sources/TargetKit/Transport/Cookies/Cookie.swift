// SPDX-License-Identifier: MIT
import Foundation

/// A cookie, as a ``CookieStore`` keeps it (RFC 6265 §5.3).
///
/// It is plain data: nothing is checked until ``CookieStore/set(_:)`` takes it.
public struct Cookie: Sendable, Hashable, Codable {
    /// The name, which is compared with upper and lower case apart.
    public var name: String
    /// The value, with its quotes where the server wrote some. It may be a secret: ``description`` leaves it out.
    public var value: String
    /// The host that the cookie is for, in lower case, without a dot in front; an IPv6 address has no brackets.
    public var domain: String
    /// Whether the cookie goes to ``domain`` alone; `false`: to the hosts below it as well.
    public var isHostOnly: Bool
    /// The path, from its `/` on, that the cookie is for, with all that is below it.
    public var path: String
    /// When the cookie ends; `nil` for a session cookie, which lives as long as its store and is never in a file.
    public var expires: Date?
    /// Whether the cookie goes over https only.
    public var isSecure: Bool
    /// Whether the server wants the cookie out of the reach of scripts: a fact for who shows pages, of no effect here.
    public var isHTTPOnly: Bool
    /// When a cookie of that name, domain and path was first stored: older ones are sent first.
    public var created: Date

    /// A cookie; by default for one host and all its paths, until the end of the session.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        created: Date = Date()
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

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// One line with everything but the value.
    public var description: String {
        var text = "\(name)=\(HeaderRedaction.placeholder); domain=\(domain)\(isHostOnly ? " only" : ""); path=\(path)"
        if let expires { text += "; expires=\(expires)" }
        if isSecure { text += "; secure" }
        if isHTTPOnly { text += "; httpOnly" }
        return text
    }

    /// Reflects only the description, so `dump` omits the value.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension Cookie {
    /// What a cookie's name and value may hold together, in bytes (RFC 6265 §6.1 asks for at least that).
    static let sizeLimit = 4096

    /// Whether the cookie has ended.
    func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether the other one takes this one's place (RFC 6265 §5.3, step 11).
    func isReplaced(by other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    /// Whether the rules that a name states by its first letters are kept (RFC 6265bis §4.1.3): `__Secure-` is for
    /// https only, and `__Host-` is as well for one host and all its paths. They count in any case of letters, as for
    /// browsers.
    var keepsPrefixRules: Bool {
        if name.prefix(7).equalsIgnoringASCIICase("__Host-") { return isSecure && isHostOnly && path == "/" }
        return isSecure || !name.prefix(9).equalsIgnoringASCIICase("__Secure-")
    }
}

extension Cookie {
    /// The cookie with its domain as a store compares it; `nil` when no server could have set it.
    var checked: Cookie? {
        let bare = domain.utf8.first == UInt8(ascii: ".") ? domain.dropFirst() : domain[...]
        guard let host = CookieHost(bare), isHostOnly || !host.isSingleLabel && !host.isAddress else { return nil }
        // JSON has no word for a date that is not finite.
        guard created.timeIntervalSince1970.isFinite, expires?.timeIntervalSince1970.isFinite ?? true else {
            return nil
        }
        var cookie = self
        cookie.domain = host.name
        // Read back as a server's: whatever does not come out as it went in would be another cookie, or none, on the
        // wire.
        guard let field = SetCookieField("\(name)=\(value)"), field.name == name, field.value == value,
            path.utf8.first == UInt8(ascii: "/"),
            !path.utf8.contains(where: { $0 == UInt8(ascii: ";") || SetCookieField.isControl($0) }),
            cookie.keepsPrefixRules
        else { return nil }
        return cookie
    }
}

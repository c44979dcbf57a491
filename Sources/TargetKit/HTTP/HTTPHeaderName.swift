// SPDX-License-Identifier: MIT

/// The name of a header field (RFC 9110 §5.1), compared case-insensitively.
///
/// A name that isn't an RFC 9110 token is an error when the request is built.
public struct HTTPHeaderName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The name in a message, for example `Content-Type`.
    public let rawValue: String

    /// Creates a name. It is sent unchanged.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a name. It is sent unchanged.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The name in a message.
    public var description: String { rawValue }

    /// Whether both names are equal, ignoring the case of ASCII letters.
    public static func == (left: Self, right: Self) -> Bool {
        left.rawValue.equalsIgnoringASCIICase(right.rawValue)
    }

    /// Hashes the lowercase name, so that equal names have equal hashes.
    public func hash(into hasher: inout Hasher) {
        rawValue.hashIgnoringASCIICase(into: &hasher)
    }

    /// The media types that the client accepts (RFC 9110 §12.5.1).
    public static let accept = Self(rawValue: "Accept")
    /// The content codings that the client accepts (RFC 9110 §12.5.3).
    static let acceptEncoding = Self(rawValue: "Accept-Encoding")
    /// The languages that the user prefers (RFC 9110 §12.5.4).
    public static let acceptLanguage = Self(rawValue: "Accept-Language")
    /// Credentials for the server (RFC 9110 §11.6.2).
    public static let authorization = Self(rawValue: "Authorization")
    /// Caching directives (RFC 9111 §5.2).
    public static let cacheControl = Self(rawValue: "Cache-Control")
    /// The digest of the content (RFC 9530 §2).
    /// The name of the content as a file (RFC 6266).
    static let contentDisposition = Self(rawValue: "Content-Disposition")
    /// The coding of the content (RFC 9110 §8.4).
    static let contentEncoding = Self(rawValue: "Content-Encoding")
    /// The content's size in bytes (RFC 9110 §8.6); the transport sets it.
    public static let contentLength = Self(rawValue: "Content-Length")
    /// The range of the representation that the content is (RFC 9110 §14.4).
    static let contentRange = Self(rawValue: "Content-Range")
    /// The content's media type (RFC 9110 §8.3).
    public static let contentType = Self(rawValue: "Content-Type")
    /// Cookies for the server (RFC 6265 §4.2).
    public static let cookie = Self(rawValue: "Cookie")
    /// The version of the representation (RFC 9110 §8.8.3).
    public static let eTag = Self(rawValue: "ETag")
    /// Host and port of the target (RFC 9110 §7.2).
    static let host = Self(rawValue: "Host")
    /// Makes a POST safe to retry (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKey = Self(rawValue: "Idempotency-Key")
    /// The URL of a redirect (RFC 9110 §10.2.2).
    public static let location = Self(rawValue: "Location")
    /// Credentials for a proxy (RFC 9110 §11.7.2).
    static let proxyAuthorization = Self(rawValue: "Proxy-Authorization")
    /// The digest of the representation (RFC 9530 §3).
    /// The time to wait before the next request (RFC 9110 §10.2.3).
    public static let retryAfter = Self(rawValue: "Retry-After")
    /// Stores a cookie (RFC 6265 §4.1).
    public static let setCookie = Self(rawValue: "Set-Cookie")
    /// The framing of the message (RFC 9112 §6.1). The transport sets it.
    static let transferEncoding = Self(rawValue: "Transfer-Encoding")
    /// The client's name and version (RFC 9110 §10.1.5).
    public static let userAgent = Self(rawValue: "User-Agent")
}

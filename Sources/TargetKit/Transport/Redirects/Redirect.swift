// SPDX-License-Identifier: MIT

/// One redirect from a URL to another.
public struct Redirect: Sendable, Hashable {
    /// The status code: 301, 302, 303, 307 or 308 (RFC 9110 §15.4).
    public var statusCode: Int
    /// The URL of the request.
    public var from: URL
    /// The URL in the response's `Location`.
    public var to: URL

    /// Creates a redirect.
    init(statusCode: Int, from: URL, to: URL) {
        self.statusCode = statusCode
        self.from = from
        self.to = to
    }

    /// Whether the scheme, host or port changes (RFC 9110 §4.3.1), so that secrets aren't forwarded.
    public var isCrossOrigin: Bool { from.origin != to.origin }

    /// Whether the redirect leads from https to http.
    var isDowngrade: Bool { from.origin.first == "https" && to.origin.first == "http" }
}

extension URL {
    /// The scheme, host and port (RFC 9110 §4.3.1) that may receive the same credentials.
    package var origin: [String] {
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        return [scheme, host()?.lowercased() ?? "", String(port)]
    }
}

extension Redirect: RedactedDescription {
    /// The status and the URLs, without user, query and fragment, which can contain secrets.
    var redactedDescription: String { "\(statusCode) from \(RedactedURL(from)) to \(RedactedURL(to))" }
}

/// The handling of redirects, which are responses with status 301, 302, 303, 307 or 308 and a `Location` (RFC 9110
/// §15.4).
///
/// These rules apply with every transport:
/// - 301 and 302 change a POST to a GET, and 303 changes every method except HEAD to a GET, without the body and the
///   fields that describe it. 307 and 308 preserve the method and the body, which is read again.
/// - When the scheme, host or port changes, fields that contain secrets are removed: the fields of
///   ``HeaderRedaction/standard``, such as `Authorization` and `Cookie`; those of plugins (``Plugin/secretHeaders``);
///   and fields whose names have a word for a secret, such as `Private-Token` and `apikey`.
/// - A redirect from https to http isn't followed unless it is allowed.
/// - A `Location` without a fragment has the fragment of the URL that it replaces (RFC 9110 §10.2.2).
/// - A `Location` that isn't an http or https URL, for a WebSocket also ws or wss, and exceeding the limit, end the call
///   with an error.
public enum RedirectPolicy: Sendable {
    /// Follows up to the given number of redirects. Default: 10, without redirects from https to http.
    case follow(limit: Int = 10, allowsDowngrade: Bool = false)
    /// Doesn't follow redirects. The redirect is returned as the response.
    case none
    /// Calls a closure for each redirect, up to 10, with the request that would be sent next by the rules above. The
    /// closure returns that request, changed or not, or `nil` to use the redirect as the response.
    ///
    /// The returned request is checked like any request, and the call ends with an error of stage `.request` if it is
    /// invalid. A redirect from https to http is rejected. If the returned request's origin differs from the server's,
    /// fields that contain secrets are removed unless the closure changed them. Its `httpBody` replaces a body in
    /// memory; a body from a file or a form is sent again unless the returned method is GET, HEAD or TRACE. An
    /// `httpBodyStream` is rejected.
    case custom(@Sendable (_ next: URLRequest, _ redirect: Redirect) -> URLRequest?)

    var limit: Int {
        switch self {
        case .follow(let limit, _): limit
        case .none: 0
        case .custom: 10
        }
    }
}

extension URL {
    /// Creates the URL to which a `Location` field redirects, with the fragment of the URL that it replaces unless it
    /// has its own (RFC 9110 §10.2.2).
    ///
    /// - Parameter isHandshake: Whether the request opens a WebSocket, so that `ws` and `wss` stand for `http` and
    ///   `https` (RFC 6455 §3).
    init?(redirectTo location: String, from source: URL, isHandshake: Bool) {
        guard let url = URL(location: location, relativeTo: source) else { return nil }
        var text = url.absoluteString
        if isHandshake, let scheme = url.scheme?.lowercased(), scheme == "ws" || scheme == "wss" {
            text = (scheme == "ws" ? "http" : "https") + text.dropFirst(scheme.count)
        }
        if url.fragment == nil, let mark = source.absoluteString.firstIndex(of: "#") {
            text += source.absoluteString[mark...]
        }
        self = text == url.absoluteString ? url : URL(escaped: text) ?? url
    }

    /// Creates the URL that a `Location` field specifies (RFC 9110 §10.2.2); `nil` if the field is invalid.
    ///
    /// Characters that RFC 3986 doesn't allow in a path, query or fragment are escaped as UTF-8, and octets that aren't
    /// UTF-8 as they are, as in browsers; existing escapes are unchanged. Foundation before iOS 17 rejects such text, and
    /// later versions escape its escapes again.
    package init?(location: String, relativeTo base: URL) {
        let text = FieldOctets.percentEncoded(location.trimmingCharacters(in: .whitespaces))
        let start = Self.endOfAuthority(in: text)
        guard let authority = Self.authority(text[..<start]) else { return nil }
        let end = text.utf8[start...].firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        var escaped = authority + PercentEncoding.encode(escapedText: String(text[start..<end]))
        let fragment = text.utf8[end...].dropFirst()
        if end < text.endIndex { escaped += "#" + PercentEncoding.encode(escapedText: String(Substring(fragment))) }
        guard URL(escaped: escaped) != nil, let url = URL(string: escaped, relativeTo: base) else { return nil }
        self = url.absoluteURL
    }

    /// The index at which the path begins (RFC 3986 §3.2); the start of a text without an authority.
    private static func endOfAuthority(in text: String) -> String.Index {
        let scheme = text.utf8.prefix { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
        let rest = text[scheme.endIndex...]
        let mark = scheme.isEmpty ? "//" : "://"
        guard rest.hasPrefix(mark) else { return text.startIndex }
        return rest.utf8.dropFirst(mark.count).firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
    }

    /// The scheme and authority; Foundation encodes a host name with non-ASCII characters.
    private static func authority(_ text: Substring) -> String? {
        let text = String(text)
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : URL(string: text)?.absoluteString
    }
}

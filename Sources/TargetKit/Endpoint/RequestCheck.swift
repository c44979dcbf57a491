// SPDX-License-Identifier: MIT

/// Validates a request when the endpoint creates it, and again before it is sent, because a request closure or plugins
/// can change it. Foundation accepts line breaks in header fields, which allow request splitting.
enum RequestCheck {
    /// Checks a request.
    static func check(_ request: URLRequest, hasBody: Bool) throws(InvalidRequest) {
        guard request.httpBodyStream == nil else { throw .bodyStream }
        let method = HTTPMethod(rawValue: request.httpMethod ?? HTTPMethod.get.rawValue)
        try check(request.url, method: method, fields: request.allHTTPHeaderFields ?? [:], hasBody: hasBody)
    }

    /// Checks a request whose URL and fields the caller already has, because `URLRequest` copies them on each access.
    static func check(
        _ url: URL?,
        method: HTTPMethod,
        fields: [String: String],
        hasBody: Bool
    ) throws(InvalidRequest) {
        guard let url, url.isCallable else { throw .unsupportedURL(url?.absoluteString ?? "") }
        guard method == .get || method.rawValue.isToken else { throw .invalidMethod(method.rawValue) }
        guard !hasBody || method.allowsBody else {
            throw .bodyNotAllowed(method: method.rawValue)
        }
        for (name, value) in fields {
            guard name.isToken else { throw .invalidHeaderName(name) }
            guard !name.isReserved else { throw .reservedHeader(name: name) }
            guard !value.endsHeaderField else { throw .invalidHeaderValue(name: name) }
        }
    }
}

extension HTTPMethod {
    /// Whether the method allows a body. GET, HEAD and TRACE don't, in any letter case, because Foundation uppercases
    /// the first two.
    var allowsBody: Bool {
        !["GET", "HEAD", "TRACE"].contains { rawValue.equalsIgnoringASCIICase($0) }
    }
}

extension URL {
    /// Whether the URL has a host, the scheme http or https, and no port above 65535. Base URLs, requests, redirects and
    /// transports all use this check. Without a host, libcurl or a joined path would take the host from the path.
    package var isCallable: Bool {
        absoluteString.namesPlainHost
            || hasHTTPScheme && host()?.isEmpty == false && absoluteString.authorityProblem == nil
    }

    var hasHTTPScheme: Bool {
        guard let scheme else { return false }
        return scheme.equalsIgnoringASCIICase("https") || scheme.equalsIgnoringASCIICase("http")
    }

    /// The URL with `http` for the scheme `ws`, and `https` for `wss`: the handshake of a WebSocket is a request of HTTP
    /// (RFC 6455 §4.1). `nil` for other schemes.
    var ofHandshake: URL? {
        guard let scheme, scheme.equalsIgnoringASCIICase("wss") || scheme.equalsIgnoringASCIICase("ws") else {
            return nil
        }
        return URL(string: "http" + absoluteString.dropFirst(2))
    }
}

extension String {
    /// What is wrong with the port or the host of a URL; `nil` if a connection can be attempted.
    var authorityProblem: String? {
        guard let start = range(of: "//")?.upperBound else { return nil }
        let authority = self[start...].prefix { !"/?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        let isAddress = place.hasPrefix("[")
        let host = place.prefix { $0 != (isAddress ? "]" : ":") }
        let port = place.dropFirst(host.count + (isAddress ? 2 : 1))
        guard port.isEmpty || UInt16(port) != nil else { return "the port \(port.prefix(20)) is above 65535" }
        guard !isAddress, host.contains("%") else { return nil }
        // The characters of an international name may be escaped.
        let isName = host.removingPercentEncoding?.utf8.allSatisfy { byte in
            byte >= 0x80 || byte.isLetterOrDigit || "-._~!$&'()*+,;=".utf8.contains(byte)
        }
        return isName == true ? nil : "the host \(host.prefix(80).debugDescription) has a character that no name has"
    }

    /// Whether the URL begins with `http://` or `https://` and a letter or digit, and has no user, no escape in the
    /// host, and no invalid port. Most URLs match; reading `scheme` and `host` creates two strings.
    fileprivate var namesPlainHost: Bool {
        ContiguousText.read(self) { text in
            guard text.count > 8, text.holds("http", at: 0) else { return false }
            let mark = text[4] == UInt8(ascii: "s") ? 5 : 4
            guard text.holds("://", at: mark), text[mark + 3].isLetterOrDigit else { return false }
            for index in (mark + 4)..<text.count {
                switch text[index] {
                case UInt8(ascii: "@"), UInt8(ascii: "%"): return false
                case UInt8(ascii: ":"): return text.holdsPort(at: index + 1)
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return true
                default: continue
                }
            }
            return true
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func holds(_ text: StaticString, at start: Int) -> Bool {
        for index in 0..<text.utf8CodeUnitCount where self[start + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Whether the end of the authority, or a port, starts there.
    fileprivate func holdsPort(at start: Int) -> Bool {
        var port = 0
        for index in start..<count {
            let byte = self[index]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return true }
            guard byte.isDigit else { return false }
            port = 10 * port + Int(byte - UInt8(ascii: "0"))
            if port > Int(UInt16.max) { return false }
        }
        return true
    }
}

extension String {
    /// Whether the field frames the message (RFC 9112 §6). Only the transport may set such a field; conflicting framing
    /// enables request smuggling.
    fileprivate var isReserved: Bool {
        switch utf8.count {
        case 14: equalsIgnoringASCIICase("Content-Length")
        case 17: equalsIgnoringASCIICase("Transfer-Encoding")
        default: false
        }
    }
}

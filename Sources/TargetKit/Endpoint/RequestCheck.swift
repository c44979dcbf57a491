// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a request must keep before it may go out. It is looked at when the endpoint becomes a request, and again where a request
/// closure or plugins have had it, since Foundation lets a header field with a line break through (and with it a second request).
struct RequestCheck {
    let method: HTTPMethod
    let hasBody: Bool

    init(method: HTTPMethod, hasBody: Bool) {
        self.method = method
        self.hasBody = hasBody
    }

    /// The check of what a request says itself.
    init(of request: URLRequest, hasBody: Bool) {
        self.init(method: HTTPMethod(rawValue: request.httpMethod ?? HTTPMethod.get.rawValue), hasBody: hasBody)
    }

    func check(_ request: URLRequest) throws(InvalidRequest) {
        guard request.httpBodyStream == nil else { throw .bodyStream }
        try check(request.url, request.allHTTPHeaderFields)
    }

    /// The same for a caller that has URL and fields at hand: asking a request for them makes copies.
    func check(_ url: URL?, _ fields: [String: String]?) throws(InvalidRequest) {
        guard let url, url.isCallable else { throw .unsupportedURL(url?.absoluteString ?? "") }
        guard method == .get || method.rawValue.isToken else { throw .invalidMethod(method.rawValue) }
        guard !hasBody || method.allowsBody else {
            throw .bodyNotAllowed(method: method.rawValue)
        }
        guard let fields else { return }
        for (name, value) in fields {
            guard name.isToken else { throw .invalidHeaderName(name) }
            guard !name.isReserved else { throw .reservedHeader(name: name) }
            guard !value.endsHeaderField else { throw .invalidHeaderValue(name: name) }
        }
    }
}

extension HTTPMethod {
    /// GET, HEAD and TRACE do not allow a body, in any case: Foundation uppercases the first two.
    var allowsBody: Bool {
        !["GET", "HEAD", "TRACE"].contains { rawValue.equalsIgnoringASCIICase($0) }
    }
}

extension URL {
    /// Whether the URL has a host and the scheme http or https. Base URLs, requests, redirects and transports all use
    /// this check: libcurl, or joining a path, would take the host of a URL without one from its path.
    var isCallable: Bool {
        absoluteString.namesPlainHost || hasHTTPScheme && host()?.isEmpty == false
    }

    var hasHTTPScheme: Bool {
        guard let scheme else { return false }
        return scheme.equalsIgnoringASCIICase("https") || scheme.equalsIgnoringASCIICase("http")
    }
}

extension String {
    /// Whether it begins with `http://` or `https://`, a letter or a digit, and has no user before its host: what most URLs
    /// do. Asking the URL for scheme and host makes two strings of it.
    fileprivate var namesPlainHost: Bool {
        ContiguousText.read(self) { text in
            guard text.count > 8, text.holds("http", at: 0) else { return false }
            let mark = text[4] == UInt8(ascii: "s") ? 5 : 4
            guard text.holds("://", at: mark), text[mark + 3].isLetterOrDigit else { return false }
            for index in (mark + 4)..<text.count {
                switch text[index] {
                case UInt8(ascii: "@"): return false
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
}

extension String {
    /// Whether the field frames the message (RFC 9112 §6), which is the transport's to say: a second opinion is how requests
    /// are smuggled.
    fileprivate var isReserved: Bool {
        switch utf8.count {
        case 14: equalsIgnoringASCIICase("Content-Length")
        case 17: equalsIgnoringASCIICase("Transfer-Encoding")
        default: false
        }
    }
}

// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a request must keep before it may go out. It is looked at twice: when the endpoint becomes a request, and after the
/// plugins, since Foundation lets a header field with a line break through (and with it a second request).
struct RequestCheck {
    let method: HTTPMethod
    let hasBody: Bool

    init(method: HTTPMethod, hasBody: Bool) {
        self.method = method
        self.hasBody = hasBody
    }

    func check(_ request: URLRequest) throws(InvalidRequest) {
        guard let url = request.url, url.isCallable else {
            throw .unsupportedURL(request.url?.absoluteString ?? "")
        }
        guard method.rawValue.isToken else { throw .invalidMethod(method.rawValue) }
        guard !hasBody || (method != .get && method != .head) else {
            throw .bodyNotAllowed(method: method.rawValue)
        }
        guard let fields = request.allHTTPHeaderFields else { return }
        for (name, value) in fields {
            guard name.isToken else { throw .invalidHeaderName(name) }
            guard !name.isReserved else { throw .reservedHeader(name: name) }
            guard !value.utf8.contains(where: \.endsHeaderLine) else { throw .invalidHeaderValue(name: name) }
        }
    }
}

extension URL {
    /// Whether it has the scheme http or https, and a host.
    var isCallable: Bool {
        guard let scheme, scheme.equalsIgnoringASCIICase("https") || scheme.equalsIgnoringASCIICase("http") else {
            return false
        }
        return host()?.isEmpty == false
    }
}

extension String {
    /// RFC 9110 §5.6.2: one or more `tchar`.
    fileprivate var isToken: Bool {
        !utf8.isEmpty && utf8.allSatisfy(\.isTokenCharacter)
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

extension UInt8 {
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(self)
        }
    }

    fileprivate var endsHeaderLine: Bool {
        self == 0x0D || self == 0x0A || self == 0
    }
}

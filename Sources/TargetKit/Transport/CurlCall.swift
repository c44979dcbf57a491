// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What one exchange needs, read out of the request on the caller's thread: reading a `URLRequest` is slow, the loop is one.
final class CurlCall: Sendable {
    /// The source of the request's body.
    enum Body: Sendable {
        case none
        case data(Data)
        /// Read on a thread of its own, including for files: a disk can be slow or stop responding.
        case source(any BodySource)

        /// - Throws: The reason a file cannot be sent.
        init(_ body: TransportRequest.Body) throws(CurlFailure) {
            self =
                switch body {
                case .none: .none
                case .data(let data): .data(data)
                case .file(let url): .source(try CurlFileBody(url))
                case .stream(let source): .source(source)
                }
        }
    }

    /// No transfer has this number.
    static let nowhere = -1

    let url: URL
    /// The URL as libcurl gets it: without user name and password.
    let address: String
    let isSecure: Bool
    /// The scheme, host and port.
    let origin: String
    let method: String
    let fields: [String: String]
    let body: Body
    let destination: TransportRequest.Destination
    /// The limit of the whole exchange; 0: none.
    let timeoutMilliseconds: Int
    let progress: (@Sendable (TransferProgress) -> Void)?

    var hasBody: Bool {
        if case .none = body { false } else { true }
    }

    /// Whether the response's body is streamed to a reader, which can be slower than the server.
    var isStreamed: Bool {
        if case .stream = destination { true } else { false }
    }

    /// Whether it makes no difference to send the request twice (RFC 9110 §9.2.2).
    var isIdempotent: Bool {
        switch method {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Set by the canceller before it asks the loop, so that a start which comes after the cancel is seen too.
    let isCancelled = Atomic(false)
    /// The number of the transfer that carries the call; written by the loop only.
    let slot = Atomic(CurlCall.nowhere)
    /// The call's position in the ``CurlQueue`` while it waits; written only by the loop.
    let place = Atomic(CurlCall.nowhere)

    init(_ request: TransportRequest) throws {
        let urlRequest = request.urlRequest
        guard let url = urlRequest.url else { throw URLError(.badURL) }
        self.url = url
        let address = url.absoluteString
        isSecure = Self.hasScheme("https://", address)
        guard isSecure || Self.hasScheme("http://", address) else {
            throw CurlFailure(.unsupportedURL, "only http and https are spoken").error(for: url)
        }
        guard url.isCallable else { throw CurlFailure(.badURL, "the URL has no host").error(for: url) }
        self.address = Self.withoutUser(address)
        origin = Self.origin(of: self.address)
        method = urlRequest.httpMethod ?? "GET"
        fields = urlRequest.allHTTPHeaderFields ?? [:]
        do { body = try Body(request.body) } catch { throw error.error(for: url) }
        destination = request.destination
        progress = request.progress
        timeoutMilliseconds =
            try request.timeout.map { timeout in
                guard timeout > .zero else { throw CurlFailure.timedOut.error(for: url) }
                return timeout.curlMilliseconds
            } ?? 0
    }

    /// Whether the caller has set the header field.
    func hasField(_ name: String) -> Bool {
        fields.keys.contains { $0.equalsIgnoringASCIICase(name) }
    }

    private static func hasScheme(_ scheme: StaticString, _ address: String) -> Bool {
        ContiguousText.read(address) { address in
            scheme.withUTF8Buffer { scheme in
                guard address.count >= scheme.count else { return false }
                for index in 0..<scheme.count where address[index].asciiLowercased != scheme[index] { return false }
                return true
            }
        }
    }

    /// The URL up to its path, in lowercase.
    private static func origin(of address: String) -> String {
        let length = ContiguousText.read(address) { bytes in
            let start = bytes.count > 8 ? 8 : bytes.count
            return bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
        }
        return String(address[..<address.utf8.index(address.startIndex, offsetBy: length)]).lowercased()
    }

    /// The URL without `user:password@` (RFC 3986 §3.2.1): libcurl would send them as an Authorization header.
    private static func withoutUser(_ address: String) -> String {
        guard ContiguousText.read(address, { $0.contains(UInt8(ascii: "@")) }) else { return address }
        let bytes = address.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return address
        }
        let start = bytes.index(colon, offsetBy: 3, limitedBy: bytes.endIndex) ?? bytes.endIndex
        let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return address }
        return String(address[..<start] + address[bytes.index(after: at)...])
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, within what libcurl takes.
    var curlMilliseconds: Int {
        let (seconds, attoseconds) = LongestWait.limited(self).components
        guard seconds < Int64(Int32.max) / 1000 else { return Int(Int32.max) }
        guard seconds >= 0 else { return 1 }
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int(max(1, milliseconds))
    }

    var curlNanoseconds: UInt64 { UInt64(curlMilliseconds) * 1_000_000 }
}
#endif

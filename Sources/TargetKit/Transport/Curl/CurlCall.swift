// SPDX-License-Identifier: MIT
#if os(Linux)
import Synchronization

/// The content of a request. It is read on the caller's thread, because reading a `URLRequest` is slow and there is
/// only one loop.
final class CurlCall: Sendable {
    /// The index that means no transfer.
    static let noIndex = -1

    let url: URL
    let address: CurlAddress
    let method: String
    /// Whether the request may be sent again when a persistent connection closes.
    let isRepeatable: Bool
    /// The header fields in the order in which they are sent.
    let fields: [CurlField]
    /// The body, if it is in memory.
    let data: Data?
    /// The body if it is read while it is sent, on a separate thread, because also a disk can be slow or stop responding.
    let source: (any BodySource)?
    let destination: TransportRequest.Destination
    let expansionLimit: ExpansionLimit?
    /// The addresses of the host in libcurl's format; empty for the system's lookup.
    let hostEntries: [String]
    /// The timeout of the whole exchange; 0 for none.
    let timeoutMilliseconds: Int
    let progress: (@Sendable (TransferProgress) -> Void)?
    let interimResponse: (@Sendable (ResponseHead, URL) -> (any Error)?)?

    var hasBody: Bool { data != nil || source != nil }

    /// Whether the length of the body is sent even if it is 0, because the method defines a meaning for a body (RFC 9110
    /// §8.6).
    var sendsLength: Bool { method == "POST" || method == "PUT" || method == "PATCH" }

    /// Whether the response's body is streamed to a reader that can be slower than the server.
    var isStreamed: Bool {
        if case .stream = destination { true } else { false }
    }

    /// Set before the cancel command is sent, so that a later start is also cancelled.
    let isCancelled = Atomic(false)
    /// The slot of the call's transfer; written only by the loop.
    let slot = Atomic(CurlCall.noIndex)
    /// The index of the call among those that wait for its host; written only by the loop.
    let place = Atomic(CurlCall.noIndex)

    init(_ request: TransportRequest, hostEntries: [String] = []) throws {
        self.hostEntries = hostEntries
        let urlRequest = request.urlRequest
        guard let url = urlRequest.url else { throw URLError(.badURL) }
        self.url = url
        guard let address = CurlAddress(url.absoluteString) else {
            throw TransportFailure.unsupportedScheme.error(for: url)
        }
        guard url.isCallable else { throw TransportFailure.missingHost.error(for: url) }
        self.address = address
        method = urlRequest.httpMethod ?? "GET"
        isRepeatable = urlRequest.isRepeatable()
        fields = CurlField.ordered(urlRequest.allHTTPHeaderFields ?? [:], by: request.givenHeaders)
        data = if case .data(let data) = request.body { data } else { nil }
        do {
            source = data == nil ? try request.body.source() : nil
        } catch let error as URLError {
            throw TransportFailure(error).error(for: url)
        }
        destination = request.destination
        expansionLimit = request.expansionLimit
        progress = request.progress
        interimResponse = request.interimResponse
        timeoutMilliseconds =
            try request.timeout.map { timeout in
                guard timeout > .zero else { throw TransportFailure.timedOut.error(for: url) }
                return timeout.curlMilliseconds
            } ?? 0
    }

    /// The total size of the URL and the fields' names and values, in bytes.
    var headSize: Int { fields.reduce(address.text.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }

    /// Whether the caller set the header field.
    func hasField(_ name: String) -> Bool {
        fields.contains { $0.name.equalsIgnoringASCIICase(name) }
    }
}

/// A header field of a request.
struct CurlField: Sendable {
    let name: String
    let value: String

    /// The name and the value.
    ///
    /// - Throws: An error if one of them contains a line break or a NUL, which would start another field.
    func checked() throws(TransportFailure) -> (name: String, value: String) {
        guard !name.isEmpty, !name.endsHeaderField, !value.endsHeaderField else { throw .lineBreak(in: name) }
        return (name, value)
    }

    /// Returns the fields in the given order, followed by the remaining fields by name. A dictionary's order differs
    /// between identical calls.
    static func ordered(_ fields: [String: String], by given: HTTPHeaders) -> [CurlField] {
        guard !fields.isEmpty else { return [] }
        var rest = fields
        var ordered: [CurlField] = []
        ordered.reserveCapacity(fields.count)
        for field in given.fields {
            let name = field.name.rawValue
            let key = rest[name] != nil ? name : rest.keys.first { $0.equalsIgnoringASCIICase(name) }
            if let key, let value = rest.removeValue(forKey: key) {
                ordered.append(CurlField(name: key, value: value))
            }
        }
        return ordered
            + rest.map { CurlField(name: $0.key, value: $0.value) }.ordered { $0.name.hasBytes(before: $1.name) }
    }
}

/// The URL of a call for libcurl.
struct CurlAddress: Sendable {
    /// The URL without `user:password@` (RFC 3986 §3.2.1). libcurl would send it as an Authorization header.
    let text: String
    let isSecure: Bool
    /// The scheme, host and port, in lowercase.
    let origin: String

    /// - Returns: `nil` if the scheme isn't http or https.
    init?(_ text: String) {
        var origin = Array(text.utf8)
        for index in origin.indices { origin[index] = origin[index].asciiLowercased }
        isSecure = origin.dropFirst(4).first == UInt8(ascii: "s")
        guard origin.starts(with: (isSecure ? "https://" : "http://").utf8) else { return nil }
        let start = isSecure ? 8 : 7
        let end = origin[start...].firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        origin.removeSubrange((end ?? origin.count)...)
        let user = start..<(origin.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start)
        origin.removeSubrange(user)
        self.origin = String(decoding: origin, as: UTF8.self)
        let rest = Substring(text.utf8.dropFirst(user.upperBound))
        self.text = user.isEmpty ? text : String(text.prefix(start) + rest)
    }
}

extension Duration {
    /// The whole milliseconds, rounded up, within libcurl's range.
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

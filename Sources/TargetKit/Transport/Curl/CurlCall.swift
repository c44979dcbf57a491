// SPDX-License-Identifier: MIT
#if os(Linux)
import Synchronization

/// The content of a request. It is read on the caller's thread, because reading a `URLRequest` is slow and there is
/// only one loop.
final class CurlCall: Sendable {
    /// The source of the request's body.
    enum Body: Sendable {
        case none
        case data(Data)
        /// Read on a separate thread, including for files, because a disk can be slow or stop responding.
        case source(any BodySource)

        /// - Throws: The reason why a file can't be sent.
        init(_ body: TransportRequest.Body) throws(URLError) {
            self =
                switch body {
                case .none: .none
                case .data(let data): .data(data)
                case .file(let url): .source(try FileBodySource(url))
                case .stream(let source): .source(source)
                }
        }
    }

    /// The index that means no transfer or no queue entry.
    static let noIndex = -1

    let url: URL
    let address: CurlAddress
    let method: String
    /// Whether the request may be sent again when a persistent connection closes.
    let isRepeatable: Bool
    /// The header fields in the order in which they are sent.
    let fields: [CurlField]
    let body: Body
    let destination: TransportRequest.Destination
    let expansionLimit: ExpansionLimit?
    /// The timeout of the whole exchange; 0 for none.
    let timeoutMilliseconds: Int
    let progress: (@Sendable (TransferProgress) -> Void)?
    let interimResponse: (@Sendable (ResponseHead, URL) -> (any Error)?)?

    var hasBody: Bool {
        if case .none = body { false } else { true }
    }

    /// Whether the response's body is streamed to a reader that can be slower than the server.
    var isStreamed: Bool {
        if case .stream = destination { true } else { false }
    }

    /// Set before the cancel command is sent, so that a later start is also cancelled.
    let isCancelled = Atomic(false)
    /// The slot of the call's transfer; written only by the loop.
    let slot = Atomic(CurlCall.noIndex)
    /// The call's position in the ``CurlConnectionQueue`` while it waits; written only by the loop.
    let queueIndex = Atomic(CurlCall.noIndex)

    init(_ request: TransportRequest) throws {
        let urlRequest = request.urlRequest
        guard let url = urlRequest.url else { throw URLError(.badURL) }
        self.url = url
        guard let address = CurlAddress(url.absoluteString) else {
            throw CurlFailure(.unsupportedURL, message: "only http and https are supported").error(for: url)
        }
        guard url.isCallable else { throw CurlFailure(.badURL, message: "the URL has no host").error(for: url) }
        self.address = address
        method = urlRequest.httpMethod ?? "GET"
        isRepeatable = urlRequest.isRepeatable()
        fields = CurlField.ordered(urlRequest.allHTTPHeaderFields ?? [:], by: request.givenHeaders)
        do { body = try Body(request.body) } catch { throw CurlFailure(error).error(for: url) }
        destination = request.destination
        expansionLimit = request.expansionLimit
        progress = request.progress
        interimResponse = request.interimResponse
        timeoutMilliseconds =
            try request.timeout.map { timeout in
                guard timeout > .zero else { throw CurlFailure.timedOut.error(for: url) }
                return timeout.curlMilliseconds
            } ?? 0
    }

    /// Whether the caller set the header field.
    func hasField(_ name: String) -> Bool {
        fields.contains { $0.name.equalsIgnoringASCIICase(name) }
    }
}

/// A header field of a request.
struct CurlField: Sendable, Equatable {
    let name: String
    let value: String

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
        return ordered + rest.map { CurlField(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
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
        let parts = ContiguousText.read(text) { Self.parts($0) }
        guard let parts else { return nil }
        isSecure = parts.schemeEnd == Self.secureScheme.utf8CodeUnitCount
        origin = parts.origin
        guard let hostStart = parts.hostStart else {
            self.text = text
            return
        }
        let bytes = text.utf8
        let user = bytes.index(bytes.startIndex, offsetBy: parts.schemeEnd)
        let host = bytes.index(bytes.startIndex, offsetBy: hostStart)
        self.text = String(text[..<user] + text[host...])
    }

    private static let secureScheme: StaticString = "https://"
    private static let plainScheme: StaticString = "http://"

    /// - Returns: The end of the scheme, the start of the host if a user precedes it, and the origin.
    private static func parts(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) -> (schemeEnd: Int, hostStart: Int?, origin: String)? {
        let scheme = bytes.starts(ignoringASCIICase: secureScheme) ? secureScheme : plainScheme
        guard bytes.starts(ignoringASCIICase: scheme) else { return nil }
        let schemeEnd = scheme.utf8CodeUnitCount
        var end = schemeEnd
        var hostStart: Int?
        authority: while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break authority
            case UInt8(ascii: "@"): hostStart = end + 1
            default: break
            }
            end += 1
        }
        let userLength = (hostStart ?? schemeEnd) - schemeEnd
        let origin = String(unsafeUninitializedCapacity: end - userLength) { origin in
            for index in 0..<schemeEnd { origin[index] = scheme.utf8Start[index] }
            for index in schemeEnd..<(end - userLength) { origin[index] = bytes[userLength + index].asciiLowercased }
            return end - userLength
        }
        return (schemeEnd, hostStart, origin)
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func starts(ignoringASCIICase text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[index].asciiLowercased != text.utf8Start[index] {
            return false
        }
        return true
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

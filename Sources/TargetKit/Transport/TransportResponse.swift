// SPDX-License-Identifier: MIT

/// The response that a ``Transport`` returns.
public struct TransportResponse: Sendable {
    /// The body of the response.
    public enum Body: Sendable {
        /// The decoded bytes; empty without a body.
        case data(Data)
        /// The file that contains the body.
        case file(URL)
        /// The body as a stream.
        case stream(ResponseBody)
        /// The connection as its ``ConnectionUpgrade`` returns it, after a response with status 101.
        case upgraded(any Sendable)
    }

    /// What is called with the decision about a response.
    final class Decision: Sendable {
        let action: @Sendable (Bool) -> Void

        init(_ action: @escaping @Sendable (Bool) -> Void) {
            self.action = action
        }
    }

    private struct Fields: Sendable {
        var head: ResponseHead
        var body: Body
        var metrics: TransportMetrics?
        var isSample = false
        var request: URLRequest?
        var origin = Origin.network
        var decision: Decision?
    }

    private var fields: Boxed<Fields>

    /// The status, header fields and HTTP version.
    public var head: ResponseHead {
        get { fields.value.head }
        set { fields.value.head = newValue }
    }
    /// The body of the response.
    public var body: Body {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }
    /// The metrics of the exchange, if the transport provides them.
    public var metrics: TransportMetrics? {
        get { fields.value.metrics }
        set { fields.value.metrics = newValue }
    }
    /// The request that was sent, after all plugins; `nil` if no plugin surrounds the exchange.
    public internal(set) var request: URLRequest? {
        get { fields.value.request }
        set { fields.value.request = newValue }
    }
    /// Whether the response is from a `StubTransport`.
    public internal(set) var isSample: Bool {
        get { fields.value.isSample }
        set { fields.value.isSample = newValue }
    }

    /// Whether the response is from the network or from a cache; default: from the network. A plugin that returns a
    /// cached response sets it.
    public var origin: Origin {
        get { fields.value.origin }
        set { fields.value.origin = newValue }
    }

    /// Adds an action that is called with `true` when a call accepts the response: its status, its body, the value that
    /// is decoded from it, and the plugins. It is called with `false` when a call rejects the response at any of these
    /// stages, and before a retry.
    ///
    /// A plugin that stores responses adds one in `exchange`, and stores the response when the call accepts it. The
    /// actions of several plugins are called in the order in which they were added, on any thread, once by each of the
    /// calls that share the response. They aren't called if the call is cancelled or times out, for a redirect that is
    /// followed, for a response that a plugin replaces in `exchange`, and for a stubbed call.
    public mutating func onDecision(_ action: @escaping @Sendable (_ isAccepted: Bool) -> Void) {
        guard let earlier = fields.value.decision else { return fields.value.decision = Decision(action) }
        fields.value.decision = Decision { isAccepted in
            earlier.action(isAccepted)
            action(isAccepted)
        }
    }

    /// Calls the actions of ``onDecision(_:)``, for a response that no call receives, such as that of
    /// ``Exchange/inBackground(_:finish:)``, and in tests.
    public func decide(isAccepted: Bool) { decision?.action(isAccepted) }

    /// The actions of ``onDecision(_:)``; `nil` if there are none.
    var decision: Decision? { fields.value.decision }

    /// Creates a response.
    public init(head: ResponseHead, body: Body, metrics: TransportMetrics? = nil) {
        fields = Boxed(Fields(head: head, body: body, metrics: metrics))
    }

    /// Creates the response of a `StubTransport`.
    init(sample head: ResponseHead, body: Body) {
        fields = Boxed(Fields(head: head, body: body, metrics: nil, isSample: true))
    }
}

extension TransportResponse.Body: RedactedDescription {
    /// The kind of body, and its size if known.
    var redactedDescription: String {
        switch self {
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file \(url.path)"
        case .stream: "a stream"
        case .upgraded: "a connection"
        }
    }
}

/// The head of a response, with its status and its header fields, which are parsed on access.
public struct ResponseHead: Sendable {
    private enum Storage: Sendable {
        case fields(HTTPHeaders)
        case lines([UInt8])
    }

    /// The status code, for example 200 (RFC 9110 §15).
    public var statusCode: Int
    /// The HTTP version, for example `HTTP/1.1` or `HTTP/2`.
    public var httpVersion: String
    private var storage: Storage

    /// Creates a head from header fields.
    public init(statusCode: Int, headers: HTTPHeaders = [:], httpVersion: String = "HTTP/1.1") {
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        storage = .fields(headers)
    }

    /// Creates a head from its lines without the status line. Each is `Name: value`, followed by CR LF or LF (RFC 9112
    /// §5). They are parsed when ``headers`` is read.
    package init(statusCode: Int, headerLines: [UInt8], httpVersion: String = "HTTP/1.1") {
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        storage = .lines(headerLines)
    }

    /// The header fields in the order received, including repeated names.
    ///
    /// Parsed at each access, so store the value to read several fields. Octets that aren't UTF-8 are opaque (RFC 9110
    /// §5.5): each is a character from U+F780 to U+F7FF, and is sent back as it came. ``HTTPHeaders/text(for:)`` returns
    /// the value for people.
    public var headers: HTTPHeaders {
        switch storage {
        case .fields(let headers): headers
        case .lines(let bytes): HTTPHeaders(lines: bytes)
        }
    }
}

extension ResponseHead: RedactedDescription {
    /// The version and the status.
    var redactedDescription: String { "\(httpVersion) \(statusCode)" }
}

extension HTTPHeaders {
    /// Parses the header lines of a response (RFC 9112 §5). A line that starts with whitespace continues the previous
    /// one (obsolete line folding, §5.2); a line without a colon is ignored.
    fileprivate init(lines bytes: [UInt8]) {
        self.init()
        for line in bytes.split(separator: 0x0A) {
            let isFolded = line.first == 0x20 || line.first == 0x09
            let line = Self.trimmed(line)
            if isFolded, !line.isEmpty, let last = fields.indices.last {
                fields[last].value += " " + FieldOctets.text(line)
            } else if let colon = line.firstIndex(of: 0x3A) {
                let value = Self.trimmed(line[line.index(after: colon)...])
                let name = HTTPHeaderName(rawValue: FieldOctets.text(line[..<colon]))
                add(name, value: FieldOctets.text(value))
            }
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        guard let first = line.firstIndex(where: { !isSpace($0) }), let last = line.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return line[first...last]
    }
}

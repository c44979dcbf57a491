// SPDX-License-Identifier: MIT

/// A request for a ``Transport``, which performs one HTTP exchange.
public struct TransportRequest: Sendable {
    /// The source of the request's body.
    public enum Body: Sendable {
        /// No body. `Content-Length: 0` is sent for POST, PUT and PATCH.
        case none
        /// Bytes in memory.
        case data(Data)
        /// A regular file, read while it is sent. A pipe or a device is rejected; use a ``BodySource`` instead.
        case file(URL)
        /// A source that can be reopened, read while it is sent.
        case stream(any BodySource)
    }

    /// The destination of the response's body.
    public enum Destination: Sendable {
        /// Memory, up to the given number of bytes after decoding. Default: 512 MiB.
        case memory(limit: Int = 512 << 20)
        /// A file, written from its start while the body arrives, regardless of the status. The file is created if it
        /// doesn't exist; otherwise it keeps its permissions. After a failure, it is incomplete.
        ///
        /// ``Provider`` passes a hidden file that only the user can read. It moves the file to its destination if the
        /// response is accepted, and otherwise removes it.
        case file(URL)
        /// A reader. About the given number of bytes are buffered before the transport stops reading from the server.
        ///
        /// The transport returns after the head. ``TransportRequest/timeout`` includes the body.
        case stream(buffer: Int)
        /// The connection itself, if the server switches to the protocol of the request's `Upgrade` field, with status
        /// 101 (RFC 9110 §7.8). The upgrade reads the response, and ``TransportRequest/timeout`` ends when it returns.
        ///
        /// For transports with ``Transport/upgradesConnections``.
        case upgrade(any ConnectionUpgrade)
    }

    struct Fields: Sendable {
        var urlRequest: URLRequest
        var body: Body
        var destination: Destination
        var timeout: Duration?
        var progress: (@Sendable (TransferProgress) -> Void)?
        var interimResponse: (@Sendable (ResponseHead, URL) -> (any Error)?)?
        var target: (any TargetType)?
        var secretHeaders: Set<HTTPHeaderName> = []
        var transferID: String?
        var ownerID: String?
        var givenHeaders = HTTPHeaders()
        var deadline: Deadline?
        var onSend: (@Sendable (URLRequest) -> Void)?
        var isCrossOrigin = false
        var mustJoin = false
        var maxExpansion = ExpansionLimit.standardFactor
        var isCollected = false
    }

    private var fields: Boxed<Fields>

    /// The method, URL and header fields. Its `httpBody`, `httpBodyStream` and `timeoutInterval` are ignored.
    public var urlRequest: URLRequest {
        get { fields.value.urlRequest }
        set { fields.value.urlRequest = newValue }
    }
    /// The source of the request's body; default: none.
    public var body: Body {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }
    /// The destination of the response's body; default: memory, up to 512 MiB.
    public var destination: Destination {
        get { fields.value.destination }
        set { fields.value.destination = newValue }
    }
    /// The timeout of the whole exchange, in whole milliseconds; `nil` for the transport's own limits.
    public var timeout: Duration? {
        get { fields.value.timeout }
        set { fields.value.timeout = newValue }
    }
    /// The number of times by which content codings may expand a body in memory over 64 MiB; default: 200. See
    /// ``CallOptions/maxExpansion``.
    public var maxExpansion: Int {
        get { fields.value.maxExpansion }
        set { fields.value.maxExpansion = newValue }
    }
    /// Whether the reader of a streamed response collects it in memory, so that ``maxExpansion`` applies; default:
    /// `false`. Set it in a plugin that replaces a ``Destination/memory(limit:)`` by a stream.
    public var isCollected: Bool {
        get { fields.value.isCollected }
        set { fields.value.isCollected = newValue }
    }
    /// Called with the progress in each direction, on any thread, at most about 20 times per second and at the end.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { fields.value.progress }
        set { fields.value.progress = newValue }
    }
    /// The target of the call, unwrapped from a ``MultiTarget``; `nil` without a provider.
    public internal(set) var target: (any TargetType)? {
        get { fields.value.target }
        set { fields.value.target = newValue }
    }
    /// Whether this request follows a redirect from another origin, so that it must not include the call's credentials.
    public var isCrossOrigin: Bool {
        get { fields.value.isCrossOrigin }
        set { fields.value.isCrossOrigin = newValue }
    }
    /// The header fields in which the provider's plugins put secrets; empty without a provider.
    package internal(set) var secretHeaders: Set<HTTPHeaderName> {
        get { fields.value.secretHeaders }
        set { fields.value.secretHeaders = newValue }
    }
    /// Identifies the transfer across launches; `nil` if the request itself does.
    public var transferID: String? {
        get { fields.value.transferID }
        set { fields.value.transferID = newValue }
    }
    /// Identifies the user whose credential a plugin applied to the request; `nil` if it isn't known.
    package internal(set) var ownerID: String? {
        get { fields.value.ownerID }
        set { fields.value.ownerID = newValue }
    }
    /// Whether the exchange must be one that an earlier process began, because the request must not be sent twice.
    package var mustJoin: Bool {
        get { fields.value.mustJoin }
        set { fields.value.mustJoin = newValue }
    }
    /// The header fields of the endpoint, for their order, which a `URLRequest` loses.
    var givenHeaders: HTTPHeaders {
        get { fields.value.givenHeaders }
        set { fields.value.givenHeaders = newValue }
    }
    /// Called with the request when it is sent, after all plugins, but not for redirects.
    public var onSend: (@Sendable (URLRequest) -> Void)? {
        get { fields.value.onSend }
        set { fields.value.onSend = newValue }
    }
    /// When the exchange times out, including its redirects.
    var deadline: Deadline? {
        get { fields.value.deadline }
        set { fields.value.deadline = newValue }
    }

    /// Called with each interim response (RFC 9110 §15.2) and the URL of its request, by a transport with
    /// ``Transport/reportsInterimResponses``. It must not block. A returned error ends the exchange.
    public var interimResponse: (@Sendable (ResponseHead, URL) -> (any Error)?)? {
        get { fields.value.interimResponse }
        set { fields.value.interimResponse = newValue }
    }

    /// Creates a request for a single exchange.
    public init(
        urlRequest: URLRequest,
        body: Body = .none,
        destination: Destination = .memory(),
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.init(
            Fields(urlRequest: urlRequest, body: body, destination: destination, timeout: timeout, progress: progress)
        )
    }

    /// Creates the request of a call.
    init(_ fields: Fields) {
        self.fields = Boxed(fields)
    }
}

extension TransportRequest {
    /// The limit of the decoded body; `nil` if it isn't collected in memory.
    var expansionLimit: ExpansionLimit? {
        switch destination {
        case .memory: ExpansionLimit(factor: maxExpansion)
        case .stream: isCollected ? ExpansionLimit(factor: maxExpansion) : nil
        case .file, .upgrade: nil
        }
    }
}

extension TransportRequest.Body {
    /// Whether there is a body.
    var isBody: Bool {
        if case .none = self { false } else { true }
    }

    /// Whether the body is read while it is sent, instead of being in memory.
    var isStreamed: Bool {
        switch self {
        case .none, .data: false
        case .file, .stream: true
        }
    }
}

extension TransportRequest: RedactedDescription {
    /// The method, URL and size, with secrets redacted.
    var redactedDescription: String {
        let url = urlRequest.url.map { RedactedURL($0).description } ?? "no URL"
        return "\(urlRequest.httpMethod ?? "GET") \(url), \(body)".inOneLine
    }
}

extension TransportRequest.Body: RedactedDescription {
    /// The kind of body, and its size if known.
    var redactedDescription: String {
        switch self {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file \(RedactedURL(url))"
        case .stream: "a stream"
        }
    }
}

extension TransportRequest.Destination: RedactedDescription {
    /// The kind of destination and its size.
    var redactedDescription: String {
        switch self {
        case .memory(let limit): "memory, up to \(limit) bytes"
        case .file(let url): "the file \(RedactedURL(url))"
        case .stream(let buffer): "a stream, buffering \(buffer) bytes"
        case .upgrade: "a connection"
        }
    }
}

/// The progress of a transfer, in bytes of the body.
public struct TransferProgress: Sendable, Hashable {
    /// The direction of a transfer.
    public enum Direction: Sendable, Hashable {
        /// The request's body is sent.
        case upload
        /// The response's body is received.
        case download
    }

    /// The number of bytes transferred so far.
    public var completed: Int64
    /// The total number of bytes; `nil` if unknown.
    public var total: Int64?
    /// The direction of the transfer.
    public var direction: Direction
    /// The number of bytes transferred per second, smoothed over the last seconds; `nil` until it is measured, and in
    /// values from a transport.
    public var bytesPerSecond: Double?

    /// Creates the progress of a transfer.
    public init(completed: Int64, total: Int64?, direction: Direction) {
        self.completed = completed
        self.total = total
        self.direction = direction
    }

    /// The completed fraction, from 0 to 1; `nil` if the total is unknown, 1 for an empty body.
    public var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, max(0, Double(completed) / Double(total)))
    }

    /// The time until the transfer is complete at its current rate; `nil` if the total or rate is unknown, or the rate
    /// is zero.
    public var remainingTime: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        let seconds = max(0, Double(total) - Double(completed)) / bytesPerSecond
        // Limited to about 30 years, because a duration has less range than a number.
        return .seconds(min(seconds, 1e9))
    }
}

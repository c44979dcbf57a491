// SPDX-License-Identifier: MIT

/// The response to a call: the status, the header fields, and the body in memory or in a file.
public struct Response: Sendable {
    /// The status code (RFC 9110 §15).
    public var statusCode: Int
    /// The body; empty if there is none, or if it was written to ``file``.
    public var data: Data
    /// The rarely used properties, in one object so that copying a response is cheap.
    private var storage: Storage

    private final class Storage: Sendable {
        let fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }
    }

    private struct Fields: Sendable {
        let head: ResponseHead
        let request: URLRequest?
        var redirects: [Redirect] = []
        let file: URL?
        let metrics: TransportMetrics?
        var target: (any TargetType)?
        var body: ResponseBody?
        var decoder: JSONDecoder?
        var isSample = false
        var origin = Origin.network
        var onDecision: (@Sendable (Bool) -> Void)?
    }

    /// Creates a response, for a test, or for a plugin that replaces the server's response.
    public init(
        statusCode: Int,
        data: Data = Data(),
        headers: HTTPHeaders = [:],
        request: URLRequest? = nil,
        file: URL? = nil,
        metrics: TransportMetrics? = nil
    ) {
        self.statusCode = statusCode
        self.data = data
        let head = ResponseHead(statusCode: statusCode, headers: headers)
        storage = Storage(Fields(head: head, request: request, file: file, metrics: metrics))
    }

    /// - Throws: `URLError(.cannotParseResponse)` if the transport returns a stream or a connection that wasn't
    ///   requested.
    init(
        _ response: TransportResponse,
        to request: URLRequest,
        after redirects: [Redirect] = [],
        of target: any TargetType,
        decoder: JSONDecoder?,
        isStream: Bool = false
    ) throws {
        statusCode = response.head.statusCode
        var file: URL?
        var stream: ResponseBody?
        switch response.body {
        case .data(let data): self.data = data
        case .file(let url):
            data = Data()
            file = url
        case .stream(let body):
            guard isStream else { throw URLError(.cannotParseResponse) }
            data = Data()
            stream = body
        case .upgraded:
            // A driver has already taken the connection.
            throw URLError(.cannotParseResponse)
        }
        storage = Storage(
            Fields(
                head: response.head,
                request: request,
                redirects: redirects,
                file: file,
                metrics: response.metrics,
                target: target,
                body: stream,
                decoder: decoder,
                isSample: response.isSample,
                origin: response.origin,
                onDecision: response.decision
            )
        )
    }

    private func with(_ change: (inout Fields) -> Void) -> Response {
        var (response, fields) = (self, fields)
        change(&fields)
        response.storage = Storage(fields)
        return response
    }

    /// This response for another call that shares it, with that call's decoder.
    func of(_ target: any TargetType, decoder: JSONDecoder?) -> Response {
        with { ($0.target, $0.decoder) = (target, decoder) }
    }

    /// This response without the body of a stream, so that it doesn't retain the connection.
    package var head: Response { with { $0.body = nil } }

    /// Whether a plugin waits for the call's decision about the response.
    var isUndecided: Bool { fields.onDecision != nil }

    /// Reports to the plugin that provided the response whether the call accepts it.
    func decide(isAccepted: Bool) { fields.onDecision?(isAccepted) }

    /// This response without the plugin that waits for the decision, so that it doesn't retain what that stores.
    var decided: Response { isUndecided ? with { $0.onDecision = nil } : self }

    private var fields: Fields { storage.fields }

    /// The header fields. They are parsed at each access, so store the list to read several fields.
    public var headers: HTTPHeaders { fields.head.headers }

    /// Whether a header field's name or value contains text, given in lowercase. The fields aren't parsed.
    package func hasField(containing text: StaticString) -> Bool { fields.head.hasField(containing: text) }

    /// Whether the body is a stream that is read later.
    package var isStream: Bool { fields.body != nil }

    /// The version of HTTP: `HTTP/1.1` or `HTTP/2`.
    package var httpVersion: String { fields.head.httpVersion }

    /// The request that was sent, or the last request if redirects were followed. Changes by plugins in `exchange`
    /// aren't included.
    public var request: URLRequest? { fields.request }

    /// The URL of ``request``: after redirects, the URL that sent the response. `nil` without a request.
    public var url: URL? { fields.request?.url }

    /// The redirects that were followed.
    public var redirects: [Redirect] { fields.redirects }

    /// Whether the response is from the network or from a cache.
    public var origin: Origin { fields.origin }

    /// The file with the body, if the task downloads to a file and the response is an accepted success.
    public var file: URL? { fields.file }

    /// The durations of the exchange's steps; `nil` if the transport doesn't measure them.
    public var metrics: TransportMetrics? { fields.metrics }

    /// The head as an `HTTPURLResponse`, created at each access; `nil` without a URL.
    ///
    /// Repeated fields are joined by `", "`, because Foundation's dictionary has each name once.
    public var httpResponse: HTTPURLResponse? {
        guard let url = request?.url else { return nil }
        return HTTPURLResponse(
            url: url,
            statusCode: statusCode,
            httpVersion: httpVersion,
            headerFields: headers.dictionary
        )
    }

    /// The target of the call, for errors about this response.
    var target: (any TargetType)? { fields.target }

    /// The decoder for the body: the given decoder, the call's, or a `JSONDecoder` with default settings.
    func decoder(_ given: JSONDecoder?) -> JSONDecoder {
        given ?? fields.decoder ?? Self.plainDecoder
    }

    private static let plainDecoder = JSONDecoder()

    /// Whether both responses are from the same exchange, even if their status or data was changed.
    func isOfSameExchange(as other: Response) -> Bool {
        storage === other.storage
    }

    /// Whether the response is from a stub: a target's sample response, or a `StubTransport`.
    public var isSample: Bool { fields.isSample }

    /// The body of a stream; `nil` for other responses.
    var body: ResponseBody? { fields.body }
}

extension Response: RedactedDescription {
    /// Status and size, in one line.
    package var redactedDescription: String {
        file.map { "HTTP \(statusCode), in \($0.path)" } ?? "HTTP \(statusCode), \(data.count) bytes"
    }
}

extension Response {
    /// Whether this is the response of `result`, with the same bytes in memory.
    func isUnchanged(from result: Result<Response, TargetKitError>) -> Bool {
        guard case .success(let other) = result, isOfSameExchange(as: other), statusCode == other.statusCode,
            data.count == other.data.count
        else { return false }
        return data.withUnsafeBytes { bytes in
            other.data.withUnsafeBytes { $0.baseAddress == bytes.baseAddress || $0.elementsEqual(bytes) }
        }
    }
}

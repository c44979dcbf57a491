// SPDX-License-Identifier: MIT

/// The response to a call: the status, the header fields, and the body in memory or in a file.
public struct Response: Sendable {
    private struct Fields: Sendable {
        var statusCode: Int
        var data = Data()
        let head: ResponseHead
        let request: URLRequest?
        var redirects: [Redirect] = []
        var file: URL?
        let metrics: TransportMetrics?
        var target: (any TargetType)?
        var body: ResponseBody?
        var decoder: (any BodyDecoder)?
        var isSample = false
        var isCrossOrigin = false
        var origin = Origin.network
        var decision: TransportResponse.Decision?
    }

    private var fields: Boxed<Fields>

    /// The status code (RFC 9110 §15).
    public var statusCode: Int {
        get { fields.value.statusCode }
        set { fields.value.statusCode = newValue }
    }
    /// The body; empty if there is none, or if it was written to ``file``.
    public var data: Data {
        get { fields.value.data }
        set { fields.value.data = newValue }
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
        let head = ResponseHead(statusCode: statusCode, headers: headers)
        fields = Boxed(
            Fields(statusCode: statusCode, data: data, head: head, request: request, file: file, metrics: metrics)
        )
    }

    /// - Throws: `URLError(.cannotParseResponse)` if the transport returns a stream or a connection that wasn't
    ///   requested.
    @inline(never)
    init(
        _ response: TransportResponse,
        to request: URLRequest,
        after redirects: [Redirect] = [],
        of target: any TargetType,
        decoder: (any BodyDecoder)?,
        isStream: Bool = false,
        isCrossOrigin: Bool = false
    ) throws {
        var fields = Fields(
            statusCode: response.head.statusCode,
            head: response.head,
            request: request,
            redirects: redirects,
            metrics: response.metrics,
            target: target,
            decoder: decoder,
            isSample: response.isSample,
            isCrossOrigin: isCrossOrigin,
            origin: response.origin,
            decision: response.decision
        )
        switch response.body {
        case .data(let data): fields.data = data
        case .file(let url): fields.file = url
        case .stream(let body) where isStream: fields.body = body
        // A driver has already taken a connection.
        case .stream, .upgraded: throw URLError(.cannotParseResponse)
        }
        self.fields = Boxed(fields)
    }

    private func with(_ change: (inout Fields) -> Void) -> Response {
        var response = self
        change(&response.fields.value)
        return response
    }

    /// This response for another call that shares it, with that call's decoder.
    func of(_ target: any TargetType, decoder: (any BodyDecoder)?) -> Response {
        with { ($0.target, $0.decoder) = (target, decoder) }
    }

    /// This response without the body of a stream, so that it doesn't retain the connection.
    package var head: Response { with { $0.body = nil } }

    /// Whether a plugin waits for the call's decision about the response.
    var isUndecided: Bool { fields.value.decision != nil }

    /// Reports to the plugin that provided the response whether the call accepts it.
    func decide(isAccepted: Bool) { fields.value.decision?.action(isAccepted) }

    /// Whether the same decision is about both responses, because one is the other, perhaps changed.
    func isDecided(with other: Response) -> Bool { fields.value.decision === other.fields.value.decision }

    /// This response without the plugin that waits for the decision, so that it doesn't retain what that stores.
    var withoutDecision: Response { isUndecided ? with { $0.decision = nil } : self }

    /// The header fields. They are parsed at each access, so store the list to read several fields.
    public var headers: HTTPHeaders { fields.value.head.headers }

    /// Whether the body is a stream that is read later.
    package var isStream: Bool { fields.value.body != nil }

    /// The version of HTTP: `HTTP/1.1` or `HTTP/2`.
    package var httpVersion: String { fields.value.head.httpVersion }

    /// The request that was sent, or the last request if redirects were followed. Changes by plugins in `exchange`
    /// aren't included.
    public var request: URLRequest? { fields.value.request }

    /// The URL of ``request``: after redirects, the URL that sent the response. `nil` without a request.
    public var url: URL? { fields.value.request?.url }

    /// The redirects that were followed.
    public var redirects: [Redirect] { fields.value.redirects }

    /// Whether the response is from the network or from a cache.
    public var origin: Origin { fields.value.origin }
    /// The source of a response.
    public typealias Origin = TransportResponse.Origin

    /// The file with the body, if the task downloads to a file and the response is an accepted success.
    public var file: URL? { fields.value.file }

    /// The durations of the exchange's steps; `nil` if the transport doesn't measure them.
    public var metrics: TransportMetrics? { fields.value.metrics }

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
    var target: (any TargetType)? { fields.value.target }

    /// The decoder for the body: the given decoder, the call's, or a `JSONDecoder` with default settings.
    func decoder(_ given: (any BodyDecoder)?) -> any BodyDecoder {
        given ?? fields.value.decoder ?? Self.plainDecoder
    }

    static let plainDecoder = JSONDecoder()

    /// Whether the response is from another origin than the call's, after a redirect or because a driver chose it. It
    /// says nothing about the credential of the call, which isn't sent there.
    public var isCrossOrigin: Bool { fields.value.isCrossOrigin || redirects.contains(where: \.isCrossOrigin) }

    /// Whether the response is from a stub: a target's sample response, or a `StubTransport`.
    public var isSample: Bool { fields.value.isSample }

    /// The body of a stream; `nil` for other responses.
    var body: ResponseBody? { fields.value.body }
}

extension Response: RedactedDescription {
    /// Status and size, in one line.
    var redactedDescription: String {
        file.map { "HTTP \(statusCode), in \($0.path)" } ?? "HTTP \(statusCode), \(data.count) bytes"
    }
}

extension Response {
    /// Whether the response of `result` has the same status and the same bytes in memory.
    func isUnchanged(from result: Result<Response, TargetKitError>) -> Bool {
        guard case .success(let other) = result, statusCode == other.statusCode else { return false }
        return data == other.data
    }
}

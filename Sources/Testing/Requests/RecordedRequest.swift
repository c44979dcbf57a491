// SPDX-License-Identifier: MIT
import TargetKit

/// A request that a transport, server or plugin received, with its body in memory.
public struct RecordedRequest: Sendable, RedactedDescription {
    /// The method.
    public var method: HTTPMethod
    /// The URL, with its query.
    public var url: URL
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty if there is none, and in the log of a ``RecordingPlugin`` if it is a file or stream.
    public var body: Data
    /// The target of the call; `nil` for a request that a server received or that wasn't made by a provider.
    public var target: (any TargetType)?
    /// The header fields in which the provider's plugins put secrets, which messages don't show.
    package var secretHeaders: Set<HTTPHeaderName> = []

    /// Creates a request from its parts.
    public init(
        method: HTTPMethod = .get,
        url: URL,
        headers: HTTPHeaders = [:],
        body: Data = Data(),
        target: (any TargetType)? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.target = target
    }

    /// The body as text, with invalid UTF-8 replaced. A body with the `Content-Encoding` `gzip` or `deflate` is decoded.
    public var text: String { String(decoding: decodedBody, as: UTF8.self) }

    /// The body without the coding of a `BodyCompressionPlugin`.
    var decodedBody: Data { ReadableBody.decoded(body, headers: headers) }
}

extension RecordedRequest {
    /// Creates a record of a transport's request, and reads its body.
    ///
    /// - Throws: The error of the body's file or source.
    package init(_ request: TransportRequest) throws {
        self.init(request.urlRequest, body: try request.body.bytes(), target: request.target, request.secretHeaders)
    }

    /// Creates a record of a request whose body was read.
    init(
        _ request: URLRequest,
        body: Data,
        target: (any TargetType)?,
        _ secretHeaders: Set<HTTPHeaderName>
    ) {
        self.init(
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"),
            url: request.url ?? target?.baseURL ?? URL(fileURLWithPath: "/"),
            headers: HTTPHeaders(request.allHTTPHeaderFields ?? [:]),
            body: body,
            target: target
        )
        self.secretHeaders = secretHeaders
    }
}

extension TransportRequest.Body {
    /// Returns all bytes, and reads them from the file or source if needed.
    ///
    /// - Throws: A `URLError` for a file that can't be read, the error of the source, or `CancellationError`.
    package func bytes() throws -> Data {
        if case .data(let data) = self { return data }
        var bytes = Data()
        try source()?.readAll { piece in
            try Task.checkCancellation()
            bytes.append(contentsOf: piece)
        }
        return bytes
    }
}

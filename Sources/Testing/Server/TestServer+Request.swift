// SPDX-License-Identifier: MIT
import TargetKit

extension TestServer {
    /// A request that the server received.
    ///
    /// ``RequestLog`` contains it as a ``RecordedRequest``.
    public struct Request: Sendable {
        /// The method.
        public var method: HTTPMethod
        /// The request target, which is the path and query with percent escapes.
        package var target: String
        /// The HTTP version in the request.
        package var httpVersion: String
        /// The header fields in their original order and spelling, including repeated names.
        public var headers: HTTPHeaders
        /// The body without a transfer coding. Empty if the server doesn't store bodies.
        public var body = Data()
        /// The size of the body in bytes, even if the server doesn't store bodies.
        package var bodyByteCount: Int64 = 0
        /// The digest of the body, even if the server doesn't store bodies.
        package var bodyDigest = BodyDigest()
        /// Whether the body was sent with `Transfer-Encoding: chunked` (RFC 9112 §7.1).
        package var isChunked = false
        /// The number of chunks, without the last, empty one.
        package var chunkCount = 0
        /// The trailer fields after a chunked body.
        package var trailers = HTTPHeaders()
        /// The number of the connection in the order of acceptance, from 0.
        ///
        /// Requests with the same number reused a connection.
        package var connection: Int
        /// The number of the request on its connection, from 0.
        package var number: Int
        /// The number of the request in the order of arrival of the heads, from 0.
        package var index: Int
        /// The bytes of the head, including the empty line.
        package var rawHead: Data

        /// The path, with percent escapes.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// The query, with percent escapes; `nil` if there is none.
        public var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }

        /// The body as text, with invalid UTF-8 replaced.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// Whether the client requests to close the connection after the response (RFC 9112 §9.3).
        var wantsClose: Bool {
            if httpVersion == "HTTP/1.0" { return !headers.has("keep-alive", in: "connection") }
            return headers.has("close", in: "connection")
        }
    }
}

extension TestServer.Request: RedactedDescription {
    /// The method, path, query and body size on one line, without secret values.
    package var redactedDescription: String {
        let size = bodyByteCount == 0 ? "" : ", \(bodyByteCount) bytes"
        return "\(method) \(Redaction().url(target).excerpt(500))\(size)".inOneLine
    }
}

extension RecordedRequest {
    /// Creates a record of a request that a server received.
    init(_ request: TestServer.Request, baseURL: URL) {
        // A target that isn't a path has the form of RFC 9112 §3.2.2 or §3.2.4.
        let text = request.target.hasPrefix("/") ? baseURL.absoluteString + request.target : request.target
        self.init(
            method: request.method,
            url: URL(string: text) ?? baseURL,
            headers: request.headers,
            body: request.body
        )
    }
}

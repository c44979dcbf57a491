// SPDX-License-Identifier: MIT

import Foundation
import TargetKit

extension TestServer {
    /// A request as the server has received it, byte for byte.
    public struct Request: Sendable {
        /// The method, as sent.
        public var method: String
        /// The request target as sent: path and query, still escaped.
        public var target: String
        /// The version as sent, `HTTP/1.1`.
        public var httpVersion: String
        /// The header fields in order.
        public var headers: HTTPHeaders
        /// The body with the chunked coding taken off. Empty where the server does not store bodies.
        public var body = Data()
        /// How long the body was in bytes, also where it was not stored.
        public var bodyByteCount: Int64 = 0
        /// The body's fingerprint, also where it was not stored.
        public var bodyDigest = BodyDigest()
        /// Whether the body came with the chunked coding (RFC 9112 §7.1).
        public var isChunked = false
        /// The number of the chunks, the last empty one not counted.
        public var chunkCount = 0
        /// The trailer fields after a chunked body.
        public var trailers = HTTPHeaders()
        /// The number of the connection, from 0, in the order in which they were accepted.
        public var connection: Int
        /// The number of the request on its connection, from 0.
        public var number: Int
        /// The number of the request on this server, from 0, in the order in which their heads came in.
        public var index: Int
        /// The bytes of the head as they came, the blank line included.
        public var rawHead: Data

        /// The path, still escaped: the target up to the question mark.
        public var path: String {
            String(target.prefix { $0 != "?" })
        }

        /// The query, still escaped: the target after the first question mark; nil when there is none.
        public var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }

        /// The body as text, invalid UTF-8 replaced.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// Whether the client wants the connection closed after the answer (RFC 9112 §9.3).
        var wantsClose: Bool {
            if httpVersion == "HTTP/1.0" { return !headers.has("keep-alive", in: "connection") }
            return headers.has("close", in: "connection")
        }
    }
}

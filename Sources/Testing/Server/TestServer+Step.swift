// SPDX-License-Identifier: MIT

import Foundation
import TargetKit

extension TestServer {
    /// One step of what the server does on a connection. Steps run one after another.
    ///
    /// Steps that follow each other and hold bytes go out together; any step in between, `.wait(.zero)` for one, sends what
    /// was there before as a segment of its own. The next step starts when the kernel has taken the bytes of the last one.
    public enum Step: Sendable {
        /// Those bytes as they are.
        case bytes(Data)
        /// That text in UTF-8 as it is; it may hold anything, a broken head too.
        case text(String)
        /// A status line, the fields, and the blank line. No field is added. The reason nil means the usual one.
        case head(status: Int, reason: String? = nil, headers: HTTPHeaders = [:])
        /// A body as it is; left out in the answer to a HEAD request, as are chunks.
        case body(Data)
        /// One chunk of the chunked coding (RFC 9112 §7.1).
        case chunk(Data)
        /// The last chunk, without trailers.
        case endChunks
        /// So many bytes of a body, made piece by piece as the kernel takes them: `next` gets the offset and returns any
        /// number of bytes, of which no more than are missing are sent; an empty piece ends it early. It is called on the
        /// server's thread and must not block.
        case generate(byteCount: Int64, next: @Sendable (_ offset: Int64) -> Data)
        /// The bytes in pieces of that size, with that time between two of them.
        case drip(Data, chunkSize: Int, every: Duration)
        /// Nothing for that long, in real time.
        case wait(Duration)
        /// Nothing until the test opens the gate.
        case pause(until: Gate)
        /// Nothing more, until the client goes or the server stops.
        case hang
        /// From here on nothing is read, so that the client's bytes pile up in the kernel.
        case stopReading
        /// From here on the server reads again.
        case resumeReading
        /// The server's half is closed (FIN); what the client still sends is read and thrown away until it closes too.
        case halfClose
        /// The connection is closed: FIN, or RST by the kernel's doing when the client is still sending.
        case close
        /// The connection is reset (RST).
        case reset

        /// So many bytes of a body that repeats the piece, which is never copied.
        public static func generate(byteCount: Int64, repeating piece: Data) -> TestServer.Step {
            .generate(byteCount: byteCount) { offset in
                let start = Int(offset % Int64(max(piece.count, 1)))
                return start == 0 ? piece : piece.dropFirst(start)
            }
        }
    }
}

extension TestServer.Step {
    /// The bytes of a step that is nothing but bytes; nil for every other.
    func bytes(withoutBody isBodiless: Bool) -> Data? {
        switch self {
        case .bytes(let data): data
        case .text(let text): Data(text.utf8)
        case .head(let status, let reason, let headers):
            Data("HTTP/1.1 \(status) \(reason ?? Self.reason(of: status))\r\n\(headers.lines)\r\n".utf8)
        case .body(let data): isBodiless ? Data() : data
        case .chunk(let data): isBodiless ? Data() : Self.chunk(data)
        case .endChunks: isBodiless ? Data() : Data("0\r\n\r\n".utf8)
        default: nil
        }
    }

    private static func chunk(_ data: Data) -> Data {
        var bytes = Data("\(String(data.count, radix: 16))\r\n".utf8)
        bytes.append(data)
        bytes.append(contentsOf: [13, 10])
        return bytes
    }

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 409: "Conflict",
        413: "Content Too Large", 417: "Expectation Failed", 429: "Too Many Requests",
        500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]

    private static func reason(of status: Int) -> String { reasons[status] ?? "Status" }
}

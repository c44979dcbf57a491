// SPDX-License-Identifier: MIT
import TargetKit

extension TestServer {
    /// One action of the server on a connection: sending bytes, waiting, or ending the connection.
    ///
    /// Steps run in sequence. The bytes of adjacent steps are sent together; to send them as separate segments, add
    /// another step between them, such as `.wait(for: .zero)`. A step starts after the kernel has accepted the bytes of
    /// the previous step.
    public struct Step: Sendable {
        enum Action: Sendable {
            case bytes(Data)
            case head(status: Int, reason: String?, headers: HTTPHeaders)
            case body(Data)
            case chunk(Data)
            case endChunks
            case generate(byteCount: Int64, next: @Sendable (_ offset: Int64) -> Data)
            case drip(Data, chunkSize: Int, interval: Duration)
            case wait(Duration)
            case waitUntil(@Sendable () async -> Void)
            case hang
            case stopReading
            case resumeReading
            case halfClose
            case close
            case reset
            case upgrade(@Sendable (Request) -> Upgrade)
        }

        let action: Action

        /// Sends text in UTF-8. It isn't validated, so it can be a malformed head.
        public static func text(_ text: String) -> Step { bytes(Data(text.utf8)) }

        /// Sends bytes without validation.
        public static func bytes(_ data: Data) -> Step { Step(action: .bytes(data)) }

        /// Sends a status line, header fields, and an empty line. Fields aren't added or validated.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - reason: The reason phrase; default: the standard one.
        ///   - headers: The header fields; default: none.
        public static func head(status: Int, reason: String? = nil, headers: HTTPHeaders = [:]) -> Step {
            Step(action: .head(status: status, reason: reason, headers: headers))
        }

        /// Sends a part of a body. It is omitted in a response to `HEAD`.
        public static func body(_ data: Data) -> Step { Step(action: .body(data)) }

        /// Sends one chunk of a body with `Transfer-Encoding: chunked` (RFC 9112 §7.1). It is omitted in a response to
        /// `HEAD`.
        public static func chunk(_ data: Data) -> Step { Step(action: .chunk(data)) }

        /// Sends the last chunk, without trailer fields.
        public static var endChunks: Step { Step(action: .endChunks) }

        /// Waits in real time.
        public static func wait(for duration: Duration) -> Step { Step(action: .wait(duration)) }

        /// Waits until a closure returns. The closure's task is cancelled when the connection ends.
        ///
        /// Use it with a ``ManualClock``, or to hold a response until a test has checked a condition.
        public static func wait(until condition: @escaping @Sendable () async -> Void) -> Step {
            Step(action: .waitUntil(condition))
        }

        /// Does nothing until the client closes the connection or the server stops.
        public static var hang: Step { Step(action: .hang) }

        /// Closes the connection.
        public static var close: Step { Step(action: .close) }

        /// Resets the connection (TCP RST).
        public static var reset: Step { Step(action: .reset) }
    }
}

// MARK: - Steps for this package's own tests

extension TestServer.Step {
    /// Sends a body that is created in chunks as the kernel accepts them.
    ///
    /// - Parameter next: Returns the bytes from an offset; an empty chunk ends the body. It is called on the server's
    ///   thread, and must not block.
    package static func generate(byteCount: Int64, next: @escaping @Sendable (_ offset: Int64) -> Data) -> Self {
        Self(action: .generate(byteCount: byteCount, next: next))
    }

    /// Sends a body that repeats a chunk, without copying it.
    package static func generate(byteCount: Int64, repeating piece: Data) -> Self {
        .generate(byteCount: byteCount) { offset in
            let start = Int(offset % Int64(max(piece.count, 1)))
            return start == 0 ? piece : piece.dropFirst(start)
        }
    }

    /// Sends bytes in chunks of a given size at an interval.
    package static func drip(_ data: Data, chunkSize: Int, every interval: Duration) -> Self {
        Self(action: .drip(data, chunkSize: chunkSize, interval: interval))
    }

    /// Waits until a gate opens.
    package static func pause(until gate: Gate) -> Self {
        .wait { try? await gate.waitUnlessCancelled() }
    }

    /// Stops reading from the connection, so that the client's bytes stay in the kernel's buffers.
    package static var stopReading: Self { Self(action: .stopReading) }

    /// Reads from the connection again.
    package static var resumeReading: Self { Self(action: .resumeReading) }

    /// Closes the server's half of the connection (TCP FIN), and discards the client's bytes until the client closes
    /// its half.
    package static var halfClose: Self { Self(action: .halfClose) }
}

// MARK: - Parts of bodies

extension TestServer.Step {
    /// The number of bytes of a body that the step sends; `nil` if it sends none.
    var bodySize: Int? {
        switch action {
        case .body(let data), .chunk(let data), .drip(let data, _, _): data.count
        case .generate(let byteCount, _): Int(clamping: byteCount)
        default: nil
        }
    }

    /// A step that sends the first bytes of its body.
    func bodyPrefix(_ count: Int) -> TestServer.Step {
        switch action {
        case .body(let data): .body(data.prefix(count))
        case .drip(let data, let size, let interval): .drip(data.prefix(count), chunkSize: size, every: interval)
        case .generate(let byteCount, let next): .generate(byteCount: min(byteCount, Int64(count)), next: next)
        // The chunk still announces its complete size.
        case .chunk(let data) where count < data.count: .body(Self.chunked(data).dropLast(data.count - count + 2))
        default: self
        }
    }
}

// MARK: - Bytes

extension TestServer.Step {
    /// The bytes of a step that only sends bytes; otherwise `nil`.
    func bytes(withoutBody isBodiless: Bool) -> Data? {
        switch action {
        case .bytes(let data): data
        case .head(let status, let reason, let headers):
            Data(FieldOctets.octets("HTTP/1.1 \(status) \(reason ?? Self.reason(of: status))\r\n\(headers.lines)\r\n"))
        case .body(let data): isBodiless ? Data() : data
        case .chunk(let data): isBodiless ? Data() : Self.chunked(data)
        case .endChunks: isBodiless ? Data() : Data("0\r\n\r\n".utf8)
        default: nil
        }
    }

    private static func chunked(_ data: Data) -> Data {
        var bytes = Data("\(String(data.count, radix: 16))\r\n".utf8)
        bytes.append(data)
        bytes.append(contentsOf: [13, 10])
        return bytes
    }

    private static func reason(of status: Int) -> String { reasons[status] ?? "Status" }

    /// The reason phrases of RFC 9110 §15, RFC 6585 and RFC 8297.
    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 409: "Conflict",
        413: "Content Too Large", 417: "Expectation Failed", 429: "Too Many Requests",
        431: "Request Header Fields Too Large",
        500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}

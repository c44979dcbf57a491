// SPDX-License-Identifier: MIT
import TargetKit

/// Reads the response to an upgrade request, which is its head and, unless the server switches protocols, its body
/// (RFC 9112).
struct HandshakeReader {
    private static let start = Array("HTTP/1.".utf8)
    /// The maximum size of a body.
    private static let bodyLimit = 1 << 20

    private let connection: any ByteConnection
    private let headLimit: Int
    /// The received bytes that aren't read yet.
    private var bytes: ArraySlice<UInt8> = []
    private var body = Data()

    init(_ connection: any ByteConnection, headLimit: Int) {
        self.connection = connection
        self.headLimit = headLimit
    }

    /// Reads the response. Bytes that follow the body of a rejection are ignored.
    ///
    /// - Throws: A ``Failure``, or the error of the connection.
    mutating func response(to request: URLRequest) async throws -> TransportResponse {
        let head = try await head()
        let headers = head.headers
        // These end at the blank line, regardless of their fields (RFC 9112 §6.3).
        let isBodiless = request.httpMethod == "HEAD" || head.statusCode == 204 || head.statusCode == 304
        let lengths = headers.values(for: .contentLength)
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { $0.trimmingSpaces }
            .map { $0.utf8.allSatisfy(\.isDigit) ? Int64($0) : nil }
        guard isBodiless || Set(lengths).count < 2 && !lengths.contains(nil) else { throw Failure.malformedLength }
        if head.statusCode == 101 {
            let rest = WebSocketUpgrade.Bytes(connection: connection, received: Array(bytes))
            return TransportResponse(head: head, body: .upgraded(rest))
        }
        if !isBodiless { try await readBody(isChunked: headers.contains("Transfer-Encoding"), length: lengths.first) }
        return TransportResponse(head: head, body: .data(body))
    }

    /// Waits for bytes; returns `false` at the end of the connection.
    private mutating func fill() async throws -> Bool {
        while bytes.isEmpty {
            guard let received = try await connection.read() else { return false }
            bytes = received[...]
        }
        return true
    }

    /// Takes the bytes up to a line break, or all.
    private mutating func takeLine() -> ArraySlice<UInt8> {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.endIndex
        defer { bytes = bytes[end...] }
        return bytes[..<end]
    }
}

// MARK: - The head

extension HandshakeReader {
    /// Reads the head of the final response. Interim responses precede it (RFC 9110 §15.2). 101 is final, because no
    /// HTTP follows it.
    private mutating func head() async throws -> ResponseHead {
        var size = 0
        while true {
            let (statusCode, httpVersion) = try Self.status(await headLine(start: Self.start, size: &size))
            var lines: [UInt8] = []
            while let line = try await fieldLine(isFirst: lines.isEmpty, size: &size) { lines += line }
            if statusCode == 101 || statusCode >= 200 {
                return ResponseHead(statusCode: statusCode, headerLines: lines, httpVersion: httpVersion)
            }
        }
    }

    /// Reads a line with its line break.
    ///
    /// - Parameters:
    ///   - start: The bytes with which it starts. Another protocol may never send a line break.
    ///   - size: The size of all lines so far.
    private mutating func headLine(start: [UInt8] = [], size: inout Int) async throws -> [UInt8] {
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            guard try await fill() else { throw Failure.headCutOff }
            line += takeLine()
            guard size + line.count <= headLimit else { throw Failure.headTooLarge(headLimit) }
            guard zip(line, start).allSatisfy({ $0 == $1 }) else { throw Failure.notHTTP }
        }
        size += line.count
        return line
    }

    /// `HTTP/1.1 101 Switching Protocols`; the reason may be missing (RFC 9112 §4).
    private static func status(_ line: [UInt8]) throws(Failure) -> (code: Int, httpVersion: String) {
        let parts = line.prefix { $0 != 0x0D && $0 != 0x0A }.split(separator: 0x20, maxSplits: 2)
        guard parts.count >= 2, parts[0].count == start.count + 1, let minor = parts[0].last, minor.isDigit,
            parts[1].count == 3, parts[1].allSatisfy(\.isDigit), parts[1].first != UInt8(ascii: "0")
        else { throw .notHTTP }
        let code = parts[1].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return (code, minor == UInt8(ascii: "0") ? "HTTP/1.0" : "HTTP/1.1")
    }

    /// Reads `Name: value`, or a line that continues it (RFC 9112 §5); `nil` for the blank line after the head.
    private mutating func fieldLine(isFirst: Bool, size: inout Int) async throws -> [UInt8]? {
        let line = try await headLine(size: &size)
        guard let first = line.first, first != 0x0D, first != 0x0A else { return nil }
        guard !line.contains(0) else { throw Failure.invalidField }
        if first == 0x20 || first == 0x09, !isFirst { return line }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            String(decoding: line[..<colon], as: UTF8.self).isToken
        else { throw Failure.invalidField }
        return line
    }
}

// MARK: - The body

extension HandshakeReader {
    /// Reads the body of a response (RFC 9112 §6.3). Without a length, it ends with the connection.
    private mutating func readBody(isChunked: Bool, length: Int64??) async throws {
        if isChunked {
            while case let size = try Self.chunkSize(await bodyLine()), size > 0 {
                try await readBytes(size)
                guard try await bodyLine().isEmpty else { throw Failure.malformedChunk }
            }
            while try await !bodyLine().isEmpty {}
        } else if let length = length ?? nil {
            try await readBytes(Int(clamping: length))
        } else {
            while try await fill() { try await readBytes(bytes.count) }
        }
    }

    private mutating func readBytes(_ count: Int) async throws {
        var rest = count
        while rest > 0 {
            guard try await fill() else { throw Failure.bodyCutOff }
            let taken = bytes.prefix(rest)
            guard body.count + taken.count <= Self.bodyLimit else { throw Failure.bodyTooLarge(Self.bodyLimit) }
            body.append(contentsOf: taken)
            bytes = bytes.dropFirst(taken.count)
            rest -= taken.count
        }
    }

    /// Reads a line of a chunked body (RFC 9112 §7.1), and returns it without its line break.
    private mutating func bodyLine() async throws -> [UInt8] {
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            guard try await fill() else { throw Failure.bodyCutOff }
            line += takeLine()
            guard line.count <= 4096 else { throw Failure.malformedChunk }
        }
        line.removeLast()
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    private static func chunkSize(_ line: [UInt8]) throws(Failure) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        // `Int` would accept a sign.
        guard digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .malformedChunk }
        return size
    }
}

// MARK: - Failures

extension HandshakeReader {
    /// The reason why a response can't be read, without the URL of its request.
    struct Failure: Error {
        var code: URLError.Code
        var message: String
        /// Whether the message contains only TargetKit's own text and numbers, so that error texts may include it.
        var isQuotable = true

        static let notHTTP = Self(code: .badServerResponse, message: "the server's response isn't HTTP/1.1")
        static let invalidField = Self(
            code: .badServerResponse,
            message: "a header field of the server's response has an invalid name or contains a NUL"
        )
        static let headCutOff = Self(
            code: .networkConnectionLost,
            message: "the connection was closed before the response's head was complete",
            isQuotable: false
        )
        static let malformedLength = Self(
            code: .cannotParseResponse,
            message: "the response's Content-Length is invalid or ambiguous"
        )
        static let malformedChunk = Self(
            code: .cannotParseResponse,
            message: "the body of the response has an invalid chunk"
        )
        static let bodyCutOff = Self(
            code: .networkConnectionLost,
            message: "the connection was closed before the response's body was complete",
            isQuotable: false
        )

        static func headTooLarge(_ limit: Int) -> Self {
            let message =
                "the heads and trailers of the response exceed the limit of \(limit) bytes of CurlTransport's maxHeadSize"
            return Self(code: .dataLengthExceedsMaximum, message: message)
        }

        static func bodyTooLarge(_ limit: Int) -> Self {
            let message = "the body exceeds the limit of \(limit) bytes"
            return Self(code: .dataLengthExceedsMaximum, message: message, isQuotable: false)
        }

        /// The error for the caller.
        func error(for url: URL?) -> URLError {
            var userInfo: [String: Any] = [NSLocalizedDescriptionKey: message]
            userInfo[NSURLErrorFailingURLErrorKey] = url?.redacted
            if isQuotable { userInfo[FailureMark.words] = message }
            return URLError(code, userInfo: userInfo)
        }
    }
}

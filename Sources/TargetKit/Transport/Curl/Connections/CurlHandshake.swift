// SPDX-License-Identifier: MIT
#if os(Linux)

/// Parses the response to an upgrade request, which is its head and, unless the server switches protocols, its body.
struct CurlHandshake {
    enum Outcome {
        /// The server switched protocols. Contains the bytes that follow the head.
        case switched(ResponseHead, rest: Data)
        /// Any other response, with its body.
        case refused(ResponseHead, Data)
    }

    private var head: CurlResponseHead
    /// The beginning of a line of the head.
    private var line: [UInt8] = []
    /// The body; `nil` until the head is complete.
    private var body: CurlRefusalBody?
    private let hasBody: Bool
    private let bodyLimit: Int
    private let headLimit: Int

    /// - Parameters:
    ///   - hasBody: Whether the response to the request can have a body.
    ///   - bodyLimit: The maximum size of the body.
    ///   - headLimit: The maximum size of the head.
    init(hasBody: Bool = true, bodyLimit: Int, headLimit: Int) {
        head = CurlResponseHead(limit: headLimit, hasBody: hasBody)
        self.hasBody = hasBody
        self.bodyLimit = bodyLimit
        self.headLimit = headLimit
    }

    /// Receives bytes, and returns the response when it is complete.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(CurlFailure) -> Outcome? {
        var rest = bytes[...]
        while !head.isComplete {
            guard let byte = rest.first else { return nil }
            rest = rest.dropFirst()
            line.append(byte)
            guard line.count <= headLimit else { throw .headTooLarge(headLimit) }
            // Another protocol may never send a line break.
            if head.isStatusLineNext, line.count <= Self.start.count, byte != Self.start[line.count - 1] {
                throw .notHTTP
            }
            if byte == UInt8(ascii: "\n") { try endLine() }
        }
        if head.statusCode == 101 { return .switched(head.response, rest: Data(rest)) }
        if body == nil {
            let isBodiless = !hasBody || head.statusCode == 204 || head.statusCode == 304
            body = CurlRefusalBody(isBodiless ? nil : head.framing, limit: bodyLimit)
        }
        try body?.receive(UnsafeRawBufferPointer(rebasing: rest))
        return refusal
    }

    /// Notes that the connection was closed, and returns the response if it ends there.
    mutating func finish() throws(CurlFailure) -> Outcome? {
        guard head.isComplete else { throw .headCutOff }
        try body?.finish()
        return refusal
    }

    private var refusal: Outcome? {
        guard let body, body.isComplete else { return nil }
        return .refused(head.response, body.data)
    }

    private mutating func endLine() throws(CurlFailure) {
        if head.isStatusLineNext { try checkStatusLine() } else { try checkFieldLine() }
        let whole = line
        try whole.withUnsafeBytes { bytes in
            Result { () throws(CurlFailure) in try head.receive(bytes) }
        }.get()
        line.removeAll(keepingCapacity: true)
    }
}

// MARK: - What libcurl checks of other responses

extension CurlHandshake {
    private static let start = Array("HTTP/1.".utf8)

    /// `HTTP/1.1 101 Switching Protocols`; the reason may be missing (RFC 9112 §4).
    private func checkStatusLine() throws(CurlFailure) {
        let parts = line.prefix { $0 != 0x0D && $0 != 0x0A }.split(separator: 0x20, maxSplits: 2)
        guard parts.count >= 2, parts[0].count == Self.start.count + 1, parts[0].last?.isDigit == true,
            parts[1].count == 3, parts[1].allSatisfy(\.isDigit), parts[1].first != UInt8(ascii: "0")
        else { throw .notHTTP }
    }

    /// `Name: value`, a line that continues it (RFC 9112 §5), or the blank line after the head.
    private func checkFieldLine() throws(CurlFailure) {
        guard let first = line.first, first != 0x0D, first != 0x0A else { return }
        guard !line.contains(0) else { throw .invalidField }
        if first == 0x20 || first == 0x09, !head.lines.isEmpty { return }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            String(decoding: line[..<colon], as: UTF8.self).isToken
        else { throw .invalidField }
    }
}

extension CurlFailure {
    fileprivate static let notHTTP = quotable(
        .badServerResponse,
        message: "the server's response isn't HTTP/1.1"
    )
    fileprivate static let invalidField = quotable(
        .badServerResponse,
        message: "a header field of the server's response has an invalid name or contains a NUL"
    )
}
#endif

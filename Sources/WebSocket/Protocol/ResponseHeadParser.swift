// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Parses the head of a response that arrives in pieces, cut anywhere (RFC 9112 §4). Interim responses other than 101
/// are discarded.
///
/// It accepts what RFC 9112 allows a recipient to accept: lines that end with LF, empty lines before the status line,
/// several spaces in the status line, and folded fields.
struct ResponseHeadParser {
    private let limit: Int
    private var byteCount = 0
    private var line: [UInt8] = []
    private var fieldLines: [UInt8] = []
    private var status: (code: Int, version: String)?

    /// Creates a parser.
    ///
    /// - Parameter limit: The largest size of all heads in bytes. Default: 64 KiB.
    init(limit: Int = 64 << 10) {
        self.limit = limit
    }

    /// Reads bytes up to the end of the head.
    ///
    /// - Returns: The head, and the number of these bytes that belong to it; `nil` if bytes are missing.
    /// - Throws: ``WebSocketError/Reason/headTooLong``, or ``WebSocketError/Reason/invalidHead`` at the first line that
    ///   isn't HTTP.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> (head: ResponseHead, size: Int)? {
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
            byteCount += end - start
            guard byteCount <= limit else {
                throw WebSocketError(.headTooLong, "the head of the response exceeds the limit of \(limit) bytes")
            }
            line.append(contentsOf: bytes[start..<end])
            start = end
            if status == nil { try checkStart() }
            guard line.last == 0x0A else { break }
            if let head = try finishLine() { return (head, start) }
        }
        return nil
    }

    /// Refuses another protocol before a line of it has arrived.
    private func checkStart() throws(WebSocketError) {
        guard let first = line.first, first != 0x0D, first != 0x0A else { return }
        guard zip(line, "HTTP/1.".utf8).allSatisfy({ $0 == $1 }) else { throw Self.notHTTP }
    }

    /// Reads a whole line; returns the head at its end.
    private mutating func finishLine() throws(WebSocketError) -> ResponseHead? {
        defer { line.removeAll(keepingCapacity: true) }
        let isEmpty = line == [0x0A] || line == [0x0D, 0x0A]
        guard let status else {
            if !isEmpty { try readStatus() }
            return nil
        }
        guard isEmpty else {
            try checkField()
            fieldLines += line
            return nil
        }
        defer {
            self.status = nil
            fieldLines = []
        }
        // RFC 9110 §15.2: interim responses precede the final one; 101 is final.
        if (100..<200).contains(status.code), status.code != 101 { return nil }
        return ResponseHead(statusCode: status.code, headerLines: fieldLines, httpVersion: status.version)
    }

    /// `HTTP/1.1 101 Switching Protocols`; the reason may be missing (RFC 9112 §4).
    private mutating func readStatus() throws(WebSocketError) {
        let text = line.prefix { $0 != 0x0D && $0 != 0x0A }
        let parts = text.split(separator: 0x20, maxSplits: 2)
        guard parts.count >= 2, parts[0].count == "HTTP/1.1".utf8.count, let minor = parts[0].last, minor.isDigit,
            parts[1].count == 3, parts[1].allSatisfy(\.isDigit), parts[1].first != UInt8(ascii: "0")
        else { throw Self.notHTTP }
        let code = parts[1].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        status = (code, minor == UInt8(ascii: "0") ? "HTTP/1.0" : "HTTP/1.1")
    }

    /// `Name: value`, or a folded line that continues one.
    private func checkField() throws(WebSocketError) {
        if let first = line.first, first == 0x20 || first == 0x09, !fieldLines.isEmpty { return }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            String(decoding: line[..<colon], as: UTF8.self).isToken
        else { throw WebSocketError(.invalidHead, "a header field of the response has no valid name") }
        guard !line.contains(0) else {
            throw WebSocketError(.invalidHead, "a header field of the response contains a NUL")
        }
    }

    private static let notHTTP = WebSocketError(.invalidHead, "the response is not HTTP/1.1")
}

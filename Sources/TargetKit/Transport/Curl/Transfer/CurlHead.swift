// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Collects the head of a response, line by line as libcurl hands them on: the final one only.
struct CurlHead {
    /// More bytes than most heads have.
    static let usualSize = 512

    private(set) var statusCode = 0
    private(set) var httpVersion = "HTTP/1.1"
    private(set) var lines: [UInt8]
    private(set) var framing = CurlFraming()
    /// Whether the blank line has come. libcurl takes a head that is cut off before it for a whole response.
    private(set) var isComplete = false
    /// Whether the response to this request can have a body.
    private let hasBody: Bool
    /// The maximum size of all heads and trailers, in bytes, and the size received.
    private let limit: Int
    private var byteCount = 0
    private var isStatusLineNext = true
    /// Whether the status line has arrived.
    var hasBegun: Bool { statusCode != 0 }

    /// A head that is collected into that room.
    init(in room: consuming [UInt8] = [], limit: Int = 0, hasBody: Bool = true) {
        lines = room
        self.limit = limit
        self.hasBody = hasBody
    }

    /// What has been collected.
    var response: ResponseHead {
        ResponseHead(statusCode: statusCode, headerLines: lines, httpVersion: httpVersion)
    }

    /// Parses one line, including its line break.
    ///
    /// - Throws: An error when the limit is exceeded or the length of the body is ambiguous.
    mutating func receive(_ line: UnsafeRawBufferPointer) throws(CurlFailure) {
        byteCount += line.count
        guard byteCount <= limit else { throw CurlFailure.headTooLarge(limit) }
        // After the head, these are the trailers of a chunked body (RFC 9112 §7.1.2), which only count toward the
        // limit.
        if isComplete { return }
        if isStatusLineNext {
            readStatus(line)
        } else if line.first == 0x0D || line.first == 0x0A {
            try finishHead()
        } else {
            framing.read(line)
            lines.append(contentsOf: line)
        }
    }

    private mutating func finishHead() throws(CurlFailure) {
        // RFC 9110 §15.2: interim responses come before the final one; 101 is final, nothing of HTTP follows it.
        if (100..<200).contains(statusCode), statusCode != 101 {
            isStatusLineNext = true
            lines.removeAll(keepingCapacity: true)
            framing = CurlFraming()
        } else {
            // RFC 9112 §6.3: these end at the blank line, regardless of their fields.
            let isBodiless = !hasBody || statusCode == 204 || statusCode == 304
            guard !framing.isMalformed || isBodiless else { throw CurlFailure.malformedLength }
            isComplete = true
        }
    }

    /// `HTTP/1.1 200 OK` (RFC 9112 §4); libcurl has checked its form, and writes one for HTTP/2.
    private mutating func readStatus(_ line: UnsafeRawBufferPointer) {
        isStatusLineNext = false
        guard let space = line.firstIndex(of: 0x20) else { return }
        httpVersion =
            switch line[5..<max(5, space)].first {
            case UInt8(ascii: "1"): line[..<space].last == UInt8(ascii: "0") ? "HTTP/1.0" : "HTTP/1.1"
            case UInt8(ascii: "3"): "HTTP/3"
            default: "HTTP/2"
            }
        let digits = line[space...].drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }.prefix(3)
        statusCode = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
#endif

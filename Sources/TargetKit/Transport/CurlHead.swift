// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Collects the head of a response, line by line as libcurl hands them on: the final one only.
struct CurlHead {
    /// The size that no honest head reaches; the rest of a longer one is not taken.
    static let limit = 256 << 10
    /// More bytes than most heads have.
    static let usualSize = 512

    private(set) var statusCode = 0
    private(set) var httpVersion = "HTTP/1.1"
    private(set) var lines: [UInt8]
    /// Whether the blank line has come. libcurl takes a head that is cut off before it for a whole response.
    private(set) var isComplete = false
    private var isStatusLineNext = true

    /// A head that is collected into that room.
    init(in room: consuming [UInt8] = []) {
        lines = room
    }

    /// What has been collected.
    var response: ResponseHead {
        ResponseHead(statusCode: statusCode, headerLines: lines, httpVersion: httpVersion)
    }

    /// Takes one line with its end; `false` when the head is too large.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        // After the head come the trailers of a chunked body (RFC 9112 §7.1.2): nobody asked for them.
        if isComplete { return true }
        if isStatusLineNext {
            readStatus(line)
        } else if line.first == 0x0D || line.first == 0x0A {
            finishHead()
        } else {
            guard lines.count + line.count <= Self.limit else { return false }
            lines.append(contentsOf: line)
        }
        return true
    }

    private mutating func finishHead() {
        // RFC 9110 §15.2: interim responses come before the final one; 101 is final, nothing of HTTP follows it.
        if (100..<200).contains(statusCode), statusCode != 101 {
            isStatusLineNext = true
            lines.removeAll(keepingCapacity: true)
        } else {
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

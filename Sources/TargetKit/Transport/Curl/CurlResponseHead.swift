// SPDX-License-Identifier: MIT
#if os(Linux)

/// Collects the lines of a response's head. Lines of interim responses are discarded.
struct CurlResponseHead {
    /// A size in bytes that is sufficient for most heads.
    static let typicalSize = 512

    private(set) var statusCode = 0
    private(set) var httpVersion = "HTTP/1.1"
    private(set) var lines: [UInt8] = []
    private(set) var framing = CurlFraming()
    /// Whether the blank line arrived. libcurl accepts a head without it as a complete response.
    private(set) var isComplete = false
    /// Whether the response to this request can have a body.
    private let hasBody: Bool
    /// The maximum size of all heads and trailers, in bytes, and the size received.
    private let limit: Int
    private var byteCount = 0
    private(set) var isStatusLineNext = true
    /// Whether interim responses are stored until they are taken.
    private let keepsInterim: Bool
    private var interim: ResponseHead?
    /// Whether the status line arrived.
    var hasBegun: Bool { statusCode != 0 }

    /// Creates an empty head with memory for lines of a size in bytes.
    init(capacity: Int = 0, limit: Int = 0, hasBody: Bool = true, keepsInterim: Bool = false) {
        lines.reserveCapacity(capacity)
        self.keepsInterim = keepsInterim
        self.limit = limit
        self.hasBody = hasBody
    }

    /// The collected head.
    var response: ResponseHead {
        ResponseHead(statusCode: statusCode, headerLines: lines, httpVersion: httpVersion)
    }

    /// Returns the interim response that just ended, if there is one.
    mutating func takeInterim() -> ResponseHead? {
        defer { if interim != nil { interim = nil } }
        return interim
    }

    /// Parses one line, including its line break.
    ///
    /// - Throws: An error if the limit is exceeded or the length of the body is ambiguous.
    mutating func receive(_ line: UnsafeRawBufferPointer) throws(TransportFailure) {
        byteCount += line.count
        guard byteCount <= limit else { throw TransportFailure.headTooLarge(limit) }
        // Lines after the head are trailers of a chunked body (RFC 9112 §7.1.2), which only count toward the limit.
        if isComplete { return }
        if isStatusLineNext {
            readStatus(line)
        } else if line.first == 0x0D || line.first == 0x0A {
            try finishHead()
        } else {
            if lines.isEmpty, line.first?.isSpaceOrTab == true { throw TransportFailure.leadingFold }
            framing.read(line)
            lines.append(contentsOf: line)
        }
    }

    private mutating func finishHead() throws(TransportFailure) {
        // Interim responses precede the final one (RFC 9110 §15.2). 101 is final, because no HTTP follows it.
        if (100..<200).contains(statusCode), statusCode != 101 {
            isStatusLineNext = true
            if keepsInterim { interim = response }
            lines.removeAll(keepingCapacity: true)
            framing = CurlFraming()
        } else {
            // These end at the blank line, regardless of their fields (RFC 9112 §6.3).
            let isBodiless = !hasBody || statusCode == 204 || statusCode == 304
            guard !framing.isMalformed || isBodiless else { throw TransportFailure.malformedLength }
            isComplete = true
        }
    }

    /// `HTTP/1.1 200 OK` (RFC 9112 §4); libcurl checks its format, and creates one for HTTP/2.
    private mutating func readStatus(_ line: UnsafeRawBufferPointer) {
        isStatusLineNext = false
        guard let space = line.firstIndex(of: 0x20) else { return }
        httpVersion =
            switch line[..<space].dropFirst(5).first {
            case UInt8(ascii: "1"): line[..<space].last == UInt8(ascii: "0") ? "HTTP/1.0" : "HTTP/1.1"
            case UInt8(ascii: "3"): "HTTP/3"
            default: "HTTP/2"
            }
        let digits = line[space...].drop { $0 == 0x20 }.prefix(while: \.isDigit).prefix(3)
        statusCode = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

/// The length and the codings of a response's body, as its header fields declare them (RFC 9112 §6.3).
///
/// libcurl reads `5x` as 5, uses the last of several lengths, and ignores a length over 63 bits. Bytes of the body
/// could then be read as the next response, or vice versa.
struct CurlFraming {
    /// The length of the body in bytes; `nil` if the head doesn't declare one.
    private(set) var length: Int64?
    /// The content codings of the body in lowercase, in the order in which they were applied (RFC 9110 §8.4).
    private(set) var codings: [String] = []
    private(set) var isChunked = false
    private var isLastFieldLength = false
    /// Whether a length isn't a number or differs from another length.
    private(set) var isMalformed = false

    /// Whether the head declares both a length and the chunked coding. The chunked coding takes precedence, and the
    /// connection isn't reused.
    var isAmbiguous: Bool { isChunked && length != nil }

    /// Parses one line of the head.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first else { return }
        switch first.asciiLowercased {
        case UInt8(ascii: "c"):
            isLastFieldLength = line.isField(named: "content-length")
            if isLastFieldLength {
                readLength(UnsafeRawBufferPointer(rebasing: line.dropFirst("content-length:".utf8.count)))
            } else if line.isField(named: "content-encoding") {
                let names = String(decoding: line.dropFirst("content-encoding:".utf8.count), as: UTF8.self)
                for name in names.lowercased().split(separator: ",") {
                    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
                    if !name.isEmpty, name != "identity" { codings.append(name) }
                }
            }
        case UInt8(ascii: "t"):
            isLastFieldLength = false
            if line.isField(named: "transfer-encoding") { isChunked = true }
        case 0x20, 0x09:
            // An obsolete folded line (RFC 9112 §5.2), already parsed by libcurl.
            if isLastFieldLength { isMalformed = true }
        default:
            isLastFieldLength = false
        }
    }

    /// Parses digits, or a list of equal numbers (RFC 9110 §8.6).
    private mutating func readLength(_ value: UnsafeRawBufferPointer) {
        var start = 0
        while start <= value.count {
            let element = value[start...].prefix { $0 != UInt8(ascii: ",") }
            let isSpace = { (byte: UInt8) in byte.isSpaceOrTab || byte == 0x0D || byte == 0x0A }
            let digits = element.drop(while: isSpace).prefix(while: \.isDigit)
            guard let number = Int64(String(decoding: digits, as: UTF8.self)), length ?? number == number,
                element[digits.endIndex...].allSatisfy(isSpace)
            else {
                isMalformed = true
                return
            }
            length = number
            start = element.endIndex + 1
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the line is the given field, whose name is in lowercase.
    fileprivate func isField(named name: StaticString) -> Bool {
        name.withUTF8Buffer { name in
            guard count > name.count, self[name.count] == UInt8(ascii: ":") else { return false }
            for index in 0..<name.count where self[index].asciiLowercased != name[index] { return false }
            return true
        }
    }
}
#endif

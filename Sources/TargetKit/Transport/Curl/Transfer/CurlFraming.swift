// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)

/// The length of a response's body, as its header fields declare it (RFC 9112 §6.3).
///
/// libcurl reads `5x` as 5, uses the last of several lengths, and ignores a length over 63 bits. Bytes of the body
/// would then be read as the next response, or the reverse.
struct CurlFraming {
    /// The length of the body in bytes; `nil` when the head does not declare one.
    private(set) var length: Int64?
    private var isChunked = false
    private var isLastFieldLength = false
    /// Whether a length is not a number, or differs from another.
    private(set) var isMalformed = false

    /// Whether the head declares both a length and the chunked coding. The chunked coding takes precedence, and the
    /// connection is not reused.
    var isAmbiguous: Bool { isChunked && length != nil }

    /// Parses one line of the head.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first else { return }
        switch first.asciiLowercased {
        case UInt8(ascii: "c"):
            isLastFieldLength = line.isField(named: "content-length")
            if isLastFieldLength {
                readLength(UnsafeRawBufferPointer(rebasing: line.dropFirst("content-length:".utf8.count)))
            }
        case UInt8(ascii: "t"):
            isLastFieldLength = false
            if line.isField(named: "transfer-encoding") { isChunked = true }
        case 0x20, 0x09:
            // An obsolete folded line (RFC 9112 §5.2), which libcurl has already parsed.
            if isLastFieldLength { isMalformed = true }
        default:
            isLastFieldLength = false
        }
    }

    /// Parses digits, or a list of the same number (RFC 9110 §8.6).
    private mutating func readLength(_ value: UnsafeRawBufferPointer) {
        var start = 0
        while start <= value.count {
            let end = value[start...].firstIndex(of: UInt8(ascii: ",")) ?? value.count
            let element = UnsafeRawBufferPointer(rebasing: value[start..<end])
            guard let number = Self.number(element), length == nil || length == number else {
                isMalformed = true
                return
            }
            length = number
            start = end + 1
        }
    }

    private static func number(_ text: UnsafeRawBufferPointer) -> Int64? {
        var (start, end) = (0, text.count)
        while start < end, isSpace(text[start]) { start += 1 }
        while start < end, isSpace(text[end - 1]) { end -= 1 }
        guard start < end else { return nil }
        var number: Int64 = 0
        for index in start..<end {
            guard (0x30...0x39).contains(text[index]) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isSumTooLarge) = tens.addingReportingOverflow(Int64(text[index] - 0x30))
            guard !isTooLarge, !isSumTooLarge else { return nil }
            number = sum
        }
        return number
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
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

// SPDX-License-Identifier: MIT

/// A parsed string.
struct ScannedString {
    let text: String
    /// Whether the source is ASCII without escapes, so that equal strings have equal bytes.
    let isPlain: Bool
    /// A hash of the bytes, from 0 to 63.
    let mark: UInt8
}

extension JSONReader {
    /// Parses the string, starting at its quote.
    @inline(__always)
    mutating func string() throws(JSONParsingError) -> ScannedString {
        cursor += 1
        let first = cursor
        skipPlainBytes()
        if cursor < end, cursor.pointee == UInt8(ascii: "\"") {
            let bytes = UnsafeBufferPointer(start: first, count: cursor - first)
            cursor += 1
            return ScannedString(text: String(decoding: bytes, as: UTF8.self), isPlain: true, mark: Self.mark(bytes))
        }
        return ScannedString(text: try unusualString(from: first), isPlain: false, mark: 0)
    }

    /// Validates and skips the string, starting at its quote. Half a surrogate pair is allowed.
    @inline(__always)
    mutating func skipString() throws(JSONParsingError) {
        cursor += 1
        skipPlainBytes()
        guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else { return try skipUnusualString() }
        cursor += 1
    }

    /// Continues to skip a string with escapes or non-ASCII bytes.
    private mutating func skipUnusualString() throws(JSONParsingError) {
        while cursor < end {
            switch cursor.pointee {
            case UInt8(ascii: "\""):
                cursor += 1
                return
            case UInt8(ascii: "\\"):
                cursor += 1
                guard cursor < end else { throw error(.escape) }
                switch cursor.pointee {
                case UInt8(ascii: "u"): _ = try codeUnit()
                case let byte where "\"\\/bfnrt".utf8.contains(byte): cursor += 1
                default: throw error(.escape)
                }
            case 0x80...: try skipScalar()
            case 0x20...: skipPlainBytes()
            default: throw error(.escapedControlCharacter)
            }
        }
        throw error(.quote)
    }

    /// A hash of the length and the first and last bytes; it differs for most keys of an object.
    @inline(__always)
    private static func mark(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt8 {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return 0 }
        let count = bytes.count
        let sum = UInt64(base[0]) &* 31 &+ UInt64(base[count - 1]) &* 7 &+ UInt64(base[count / 2]) &* 13
        return UInt8(truncatingIfNeeded: (sum &+ UInt64(count)) & 63)
    }

    /// Advances to the next quote, backslash, control character or non-ASCII byte, eight bytes at a time.
    @inline(__always)
    private mutating func skipPlainBytes() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        while end - cursor >= 8 {
            let word = UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self)
            let quotes = word ^ ones &* 0x22
            let slashes = word ^ ones &* 0x5C
            let controls = (word &- ones &* 0x20) & ~word
            let found = ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | controls | word) & tops
            guard found == 0 else {
                cursor += UInt64(littleEndian: found).trailingZeroBitCount / 8
                return
            }
            cursor += 8
        }
        while cursor < end, cursor.pointee >= 0x20, cursor.pointee < 0x80, cursor.pointee != UInt8(ascii: "\""),
            cursor.pointee != UInt8(ascii: "\\")
        {
            cursor += 1
        }
    }

    /// Continues parsing a string with escapes or non-ASCII bytes.
    private mutating func unusualString(from first: UnsafePointer<UInt8>) throws(JSONParsingError) -> String {
        unescaped.truncate(to: 0)
        var copied = first
        while cursor < end {
            switch cursor.pointee {
            case UInt8(ascii: "\""):
                let rest = UnsafeBufferPointer(start: copied, count: cursor - copied)
                cursor += 1
                guard copied != first else { return String(decoding: rest, as: UTF8.self) }
                unescaped.append(rest)
                return unescaped.string
            case UInt8(ascii: "\\"):
                unescaped.append(UnsafeBufferPointer(start: copied, count: cursor - copied))
                try escape()
                copied = cursor
            case 0x80...: try skipScalar()
            case 0x20...: skipPlainBytes()
            default: throw error(.escapedControlCharacter)
            }
        }
        throw error(.quote)
    }

    /// Validates and skips one non-ASCII scalar (RFC 3629 §4).
    private mutating func skipScalar() throws(JSONParsingError) {
        let lead = cursor.pointee
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard length > 0, end - cursor >= length, second.contains(cursor[1]) else { throw error(.validUTF8) }
        for offset in 2..<max(length, 2) where cursor[offset] & 0xC0 != 0x80 { throw error(.validUTF8) }
        cursor += length
    }

    /// Parses the escape, starting at its backslash (RFC 8259 §7).
    private mutating func escape() throws(JSONParsingError) {
        cursor += 1
        guard cursor < end else { throw error(.escape) }
        let byte = cursor.pointee
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            try unicodeEscape()
            return
        default: throw error(.escape)
        }
        cursor += 1
    }

    private mutating func unicodeEscape() throws(JSONParsingError) {
        let place = cursor - 1
        var code = UInt32(try codeUnit())
        if code & 0xFC00 == 0xD800, end - cursor >= 2, cursor[0] == UInt8(ascii: "\\"), cursor[1] == UInt8(ascii: "u") {
            cursor += 1
            let low = UInt32(try codeUnit())
            code = low & 0xFC00 == 0xDC00 ? 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF : code
        }
        guard let scalar = Unicode.Scalar(code) else {
            cursor = place
            throw error(.surrogatePair)
        }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { unescaped.append(byte) }
    }

    /// Parses the four digits after the `u`.
    private mutating func codeUnit() throws(JSONParsingError) -> UInt16 {
        var code: UInt16 = 0
        for _ in 0..<4 {
            cursor += 1
            guard cursor < end else { throw error(.hexadecimalDigits) }
            let digit: UInt8
            switch cursor.pointee {
            case let byte where (0x30...0x39).contains(byte): digit = byte - 0x30
            case let byte where (0x61...0x66).contains(byte | 0x20): digit = (byte | 0x20) - 0x57
            default: throw error(.hexadecimalDigits)
            }
            code = code << 4 | UInt16(digit)
        }
        cursor += 1
        return code
    }
}

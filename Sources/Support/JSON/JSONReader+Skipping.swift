// SPDX-License-Identifier: MIT

extension JSONReader {
    /// Validates and skips the number at the cursor (RFC 8259 §6).
    @inline(__always)
    package mutating func skipNumber() throws(JSONParsingError) {
        if cursor.pointee == UInt8(ascii: "-") { cursor += 1 }
        guard cursor < end, cursor.pointee.isDigit else { throw error(.digit) }
        // No digit may follow a leading zero; if one does, the caller reports a missing comma.
        if cursor.pointee == UInt8(ascii: "0") { cursor += 1 } else { skipDigits() }
        if cursor < end, cursor.pointee == UInt8(ascii: ".") {
            cursor += 1
            try skipSomeDigits()
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            if cursor < end, cursor.pointee == UInt8(ascii: "-") || cursor.pointee == UInt8(ascii: "+") { cursor += 1 }
            try skipSomeDigits()
        }
    }

    private mutating func skipSomeDigits() throws(JSONParsingError) {
        guard cursor < end, cursor.pointee.isDigit else { throw error(.digit) }
        skipDigits()
    }

    @inline(__always)
    private mutating func skipDigits() {
        while cursor < end, cursor.pointee.isDigit { cursor += 1 }
    }

    /// Validates and skips the string, starting at its quote, and returns whether it is ASCII without escapes.
    @discardableResult
    @inline(__always)
    package mutating func skipString() throws(JSONParsingError) -> Bool {
        cursor += 1
        skipPlainBytes()
        guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else {
            try skipUnusualString()
            return false
        }
        cursor += 1
        return true
    }

    /// Continues to skip a string with escapes or non-ASCII bytes.
    private mutating func skipUnusualString() throws(JSONParsingError) {
        while cursor < end {
            switch cursor.pointee {
            case UInt8(ascii: "\""):
                cursor += 1
                return
            case UInt8(ascii: "\\"): try skipEscape()
            case 0x80...: try skipScalar()
            case 0x20...: skipPlainBytes()
            default: throw error(.escapedControlCharacter)
            }
        }
        throw error(.quote)
    }

    /// Validates and skips the escape, starting at its backslash (RFC 8259 §7).
    private mutating func skipEscape() throws(JSONParsingError) {
        let escape = cursor
        cursor += 1
        guard cursor < end else { throw error(.escape) }
        switch cursor.pointee {
        case UInt8(ascii: "u"):
            let code = try codeUnit()
            guard !allowsHalfPairs, code & 0xF800 == 0xD800 else { return }
            if code & 0xFC00 == 0xD800, end - cursor >= 2, cursor[0] == UInt8(ascii: "\\"),
                cursor[1] == UInt8(ascii: "u")
            {
                cursor += 1
                if try codeUnit() & 0xFC00 == 0xDC00 { return }
            }
            cursor = escape
            throw error(.surrogatePair)
        case let byte where "\"\\/bfnrt".utf8.contains(byte): cursor += 1
        default: throw error(.escape)
        }
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

    /// Validates and skips one non-ASCII scalar (RFC 3629 §4).
    private mutating func skipScalar() throws(JSONParsingError) {
        var rest = UnsafeBufferPointer(start: cursor, count: end - cursor).makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        guard case .valid(let scalar) = parser.parseScalar(from: &rest) else { throw error(.validUTF8) }
        cursor += scalar.count
    }

    /// Parses the four digits after the `u`.
    private mutating func codeUnit() throws(JSONParsingError) -> UInt16 {
        var code: UInt16 = 0
        for _ in 0..<4 {
            cursor += 1
            guard cursor < end, let digit = cursor.pointee.hexadecimalDigit else { throw error(.hexadecimalDigits) }
            code = code << 4 | UInt16(digit)
        }
        cursor += 1
        return code
    }
}

// SPDX-License-Identifier: MIT

extension JSONReader {
    /// Parses the number at the cursor (RFC 8259 §6).
    @inline(__always)
    mutating func number() throws(JSONParsingError) -> JSONNumber {
        let first = cursor
        let isNegative = cursor.pointee == UInt8(ascii: "-")
        if isNegative { cursor += 1 }
        var digits: UInt64 = 0
        let whole = cursor
        guard cursor < end, let digit = Self.digit(cursor.pointee) else { throw error(.digit) }
        cursor += 1
        digits = digit
        // No digit may follow a leading zero; if one does, the caller reports a missing comma.
        if digit != 0 { readDigits(into: &digits) }
        let count = cursor - whole
        let isLonger =
            cursor < end && (cursor.pointee == UInt8(ascii: ".") || cursor.pointee | 0x20 == UInt8(ascii: "e"))
        if !isLonger, count <= 18, !(isNegative && digits == 0) {
            return JSONNumber(.signed(isNegative ? -Int64(digits) : Int64(digits)))
        }
        return try longNumber(first, digits: digits, count: count, isNegative: isNegative)
    }

    /// Validates and skips the number at the cursor.
    @inline(__always)
    mutating func skipNumber() throws(JSONParsingError) {
        if cursor.pointee == UInt8(ascii: "-") { cursor += 1 }
        guard cursor < end, cursor.pointee.isDigit else { throw error(.digit) }
        // No digit may follow a leading zero; if one does, the caller reports a missing comma.
        if cursor.pointee == UInt8(ascii: "0") { cursor += 1 } else { skipDigits() }
        if cursor < end, cursor.pointee == UInt8(ascii: ".") {
            cursor += 1
            guard cursor < end, cursor.pointee.isDigit else { throw error(.digit) }
            skipDigits()
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") { _ = try readExponent() }
    }

    @inline(__always)
    private mutating func skipDigits() {
        while cursor < end, cursor.pointee.isDigit { cursor += 1 }
    }

    private mutating func longNumber(
        _ first: UnsafePointer<UInt8>,
        digits: UInt64,
        count: Int,
        isNegative: Bool
    ) throws(JSONParsingError) -> JSONNumber {
        var digits = digits
        var exponent = 0
        var count = count
        if cursor < end, cursor.pointee == UInt8(ascii: ".") {
            let point = cursor
            cursor += 1
            readDigits(into: &digits)
            exponent = point + 1 - cursor
            guard exponent < 0 else { throw error(.digit) }
            count -= exponent
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") { exponent += try readExponent() }
        if count <= 18, digits < 1_000_000_000_000_000, exponent <= 0, exponent >= -22, !(isNegative && digits == 0) {
            return Self.short(digits, exponent: exponent, isNegative: isNegative)
        }
        let text = UnsafeBufferPointer(start: first, count: cursor - first)
        return count <= 17 ? Self.shortest(text) ?? JSONNumber(canonical: text) : JSONNumber(canonical: text)
    }

    /// Parses a number with a fraction if its text equals the description of the `Double`.
    private static func shortest(_ text: UnsafeBufferPointer<UInt8>) -> JSONNumber? {
        guard text.last != UInt8(ascii: "0"), text.contains(UInt8(ascii: ".")),
            !text.contains(where: { $0 | 0x20 == 0x65 }),
            let value = Double(String(decoding: text, as: UTF8.self)),
            ContiguousText.read(value.description, body: { $0.elementsEqual(text) })
        else { return nil }
        return JSONNumber(.double(value))
    }

    /// Creates a number of up to 15 digits. Both operands of the division are exact, so the quotient is the nearest
    /// `Double`, which represents 15 digits exactly.
    private static func short(_ digits: UInt64, exponent: Int, isNegative: Bool) -> JSONNumber {
        let value = Double(digits) / powersOfTen[-exponent]
        let whole = Int64(value)
        if Double(whole) == value { return JSONNumber(.signed(isNegative ? -whole : whole)) }
        return JSONNumber(.double(isNegative ? -value : value))
    }

    /// Parses digits. The value wraps around after 19 digits.
    @inline(__always)
    private mutating func readDigits(into digits: inout UInt64) {
        while cursor < end, let digit = Self.digit(cursor.pointee) {
            digits = digits &* 10 &+ digit
            cursor += 1
        }
    }

    /// Parses the exponent, starting at its `e`. A value far out of range is clamped to 1000.
    private mutating func readExponent() throws(JSONParsingError) -> Int {
        cursor += 1
        let isNegative = cursor < end && cursor.pointee == UInt8(ascii: "-")
        if isNegative || cursor < end && cursor.pointee == UInt8(ascii: "+") { cursor += 1 }
        let first = cursor
        var exponent = 0
        while cursor < end, let digit = Self.digit(cursor.pointee) {
            exponent = min(exponent * 10 + Int(digit), 1_000)
            cursor += 1
        }
        guard cursor > first else { throw error(.digit) }
        return isNegative ? -exponent : exponent
    }

    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt64? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < 10 ? UInt64(digit) : nil
    }

    /// The powers of ten that a `Double` represents exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

// SPDX-License-Identifier: MIT
import TargetKit

extension JSONReader {
    /// Parses the number at the cursor (RFC 8259 §6).
    @inline(__always)
    mutating func number() throws(JSONParsingError) -> JSONNumber {
        let first = cursor
        try skipNumber()
        return Self.number(UnsafeBufferPointer(start: first, count: cursor - first))
    }

    /// The number of a valid text.
    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> JSONNumber {
        let isNegative = text.first == UInt8(ascii: "-")
        var digits: UInt64 = 0
        var position = isNegative ? 1 : 0
        var count = readDigits(of: text, at: &position, into: &digits)
        if position == text.count, count <= 18, !(isNegative && digits == 0) {
            return JSONNumber(.signed(isNegative ? -Int64(digits) : Int64(digits)))
        }
        var exponent = 0
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position += 1
            exponent = -readDigits(of: text, at: &position, into: &digits)
            count -= exponent
        }
        if position < text.count { exponent += self.exponent(of: text, at: position + 1) }
        if count <= 18, digits < 1_000_000_000_000_000, exponent <= 0, exponent >= -22, !(isNegative && digits == 0) {
            return short(digits, exponent: exponent, isNegative: isNegative)
        }
        return count <= 17 ? shortest(text) ?? JSONNumber(canonical: text) : JSONNumber(canonical: text)
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

    /// Reads digits, and returns their number. The value wraps around after 19 digits.
    @inline(__always)
    private static func readDigits(
        of text: UnsafeBufferPointer<UInt8>,
        at position: inout Int,
        into digits: inout UInt64
    ) -> Int {
        let first = position
        while position < text.count, text[position].isDigit {
            digits = digits &* 10 &+ UInt64(text[position] - UInt8(ascii: "0"))
            position += 1
        }
        return position - first
    }

    /// The exponent after its `e`. A value far out of range is clamped to 1000.
    private static func exponent(of text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int {
        var exponent = 0
        for byte in text[position...] where byte.isDigit {
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1_000)
        }
        return text[position] == UInt8(ascii: "-") ? -exponent : exponent
    }

    /// The powers of ten that a `Double` represents exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

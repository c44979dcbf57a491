// SPDX-License-Identifier: MIT

import Foundation

/// Numbers as text, the same in every format: as short as reads back to the same number (`1.0` is `1`).
enum NumberText {
    /// Appends an integer's digits without making a `String` first.
    static func append(_ value: Int64, to buffer: inout ByteBuffer) {
        if value < 0 { buffer.append(UInt8(ascii: "-")) }
        append(value.magnitude, to: &buffer)
    }

    /// Appends an integer's digits without making a `String` first.
    static func append(_ value: UInt64, to buffer: inout ByteBuffer) {
        var count = 1
        var larger = value / 10
        while larger > 0 {
            larger /= 10
            count += 1
        }
        buffer.append(upTo: count) { start in
            var rest = value
            for offset in (0..<count).reversed() {
                start[offset] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return count
        }
    }

    /// The shortest text that reads back to the same number.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN and the infinities, which neither JSON (RFC 8259 §6) nor a form has.
    static func text(_ value: some BinaryFloatingPoint & LosslessStringConvertible) throws -> Substring {
        guard value.isFinite else { throw ParameterEncodingError(.notFinite) }
        let text = value.description
        return text.hasSuffix(".0") ? text.dropLast(2) : text[...]
    }

    /// All of a decimal's digits.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN.
    static func text(_ value: Decimal) throws -> String {
        guard value.isFinite else { throw ParameterEncodingError(.notFinite) }
        return value.description
    }
}

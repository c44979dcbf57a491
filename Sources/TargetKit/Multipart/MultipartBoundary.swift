// SPDX-License-Identifier: MIT

/// A boundary that RFC 2046 §5.1.1 allows: 1–70 `bchars`, of which the last is not a space.
struct MultipartBoundary: Sendable {
    let text: String

    /// `nil` when RFC 2046 does not allow it.
    init?(_ text: String) {
        guard (1...70).contains(text.utf8.count), ASCIISet.boundary.containsAll(of: text),
            text.utf8.last != 0x20
        else {
            return nil
        }
        self.text = text
    }

    /// 128 random bits in hexadecimal: a token, so that no server has to understand quotes.
    init(using generator: inout some RandomNumberGenerator) {
        let bits = (generator.next() as UInt64, generator.next() as UInt64)
        text = "TargetKit-" + Self.hexadecimal(bits)
    }

    private static func hexadecimal(_ bits: (UInt64, UInt64)) -> String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            for place in 0..<32 {
                let word = place < 16 ? bits.0 : bits.1
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (place % 16))) & 0xF
                buffer[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
            }
            return 32
        }
    }

    /// As a parameter of `Content-Type`: in quotes unless it is a token (RFC 2045 §5.1). No boundary holds `"` or `\`.
    var parameterValue: String {
        ASCIISet.token.containsAll(of: text) ? text : "\"\(text)\""
    }
}

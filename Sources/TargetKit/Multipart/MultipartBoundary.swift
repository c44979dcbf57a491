// SPDX-License-Identifier: MIT

/// A boundary that RFC 2046 §5.1.1 allows: 1–70 `bchars`, of which the last is not a space.
struct MultipartBoundary: Sendable {
    let text: String

    /// `nil` when RFC 2046 does not allow it.
    init?(_ text: String) {
        guard (1...70).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed), !text.hasSuffix(" ") else {
            return nil
        }
        self.text = text
    }

    /// 128 random bits in hexadecimal: a token, so that no server has to understand quotes.
    init(using generator: inout some RandomNumberGenerator) {
        var bytes = Array("TargetKit-".utf8)
        bytes.reserveCapacity(42)
        for _ in 0..<2 {
            let bits = generator.next()
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: bits >> UInt64(shift)) & 0xF
                bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// As a parameter of `Content-Type`: in quotes unless it is a token (RFC 2045 §5.1). No boundary holds `"` or `\`.
    var parameterValue: String {
        text.utf8.allSatisfy(\.isTokenCharacter) ? text : "\"\(text)\""
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x27...0x29, 0x2B...0x2F, 0x3A, 0x3D, 0x3F, 0x5F, 0x20: true  // ' ( ) + , - . / : = ? _ and space
        default: false
        }
    }
}

extension UInt8 {
    /// Whether RFC 9110 §5.6.2 allows the byte in a token.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true  // ! # $ % & ' * + - . ^ _ ` | ~
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether it can be the name of a header field (RFC 9110 §5.1).
    var isHeaderName: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenCharacter)
    }
}

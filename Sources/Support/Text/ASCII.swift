// SPDX-License-Identifier: MIT

extension UInt8 {
    /// Whether the byte is a space or a tab, the white space of header fields (RFC 9110 §5.6.3).
    @inlinable package var isSpaceOrTab: Bool { self == 0x20 || self == 0x09 }

    /// The byte in lowercase if it is an ASCII letter.
    @inlinable package var asciiLowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }

    /// Whether the byte is in A–Z, a–z or 0–9.
    @inlinable package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether this is an ASCII digit.
    @inlinable @inline(__always)
    package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// The value of a hexadecimal digit; `nil` for any other byte.
    package var hexadecimalDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x57
        default: nil
        }
    }

    /// Whether this is white space between the parts of a JSON text (RFC 8259 §2).
    @inlinable @inline(__always)
    package var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}

extension String {
    /// Whether both are equal, ignoring the case of ASCII letters, as RFC 9110 compares names.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        ContiguousText.read(self) { left in
            ContiguousText.read(other) { right in
                left.count == right.count
                    && left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
    }

    /// Whether the bytes of `text` are among the bytes of this text. The searches of Foundation and the standard library
    /// are generic, and take most of the time in which a failed call's error is redacted.
    package func containsBytes(of text: StaticString) -> Bool {
        ContiguousText.read(self) { bytes in
            text.withUTF8Buffer { part in
                guard bytes.count >= part.count else { return false }
                return (0...bytes.count - part.count).contains { start in
                    part.indices.allSatisfy { bytes[start + $0] == part[$0] }
                }
            }
        }
    }

    /// The text with ASCII letters in lowercase.
    package var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// Hashes the bytes, with ASCII letters in lowercase.
    package func hashIgnoringASCIICase(into hasher: inout Hasher) {
        // Combining eight bytes costs as much as combining one.
        let last = ContiguousText.read(self) { bytes in
            var word: UInt64 = 0
            for (index, byte) in bytes.enumerated() {
                word = word << 8 | UInt64(byte.asciiLowercased)
                guard index % 8 == 7 else { continue }
                hasher.combine(word)
                word = 0
            }
            return word
        }
        hasher.combine(last)
        hasher.combine(utf8.count)
    }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    package var trimmingSpaces: Substring {
        let start = utf8.drop(while: \.isSpaceOrTab)
        guard let last = start.lastIndex(where: { !$0.isSpaceOrTab }) else { return "" }
        return Substring(start[...last])
    }
}

/// A set of ASCII characters, stored as one bit each.
package struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(_ characters: String) {
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
        }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let bits = byte < 64 ? low : byte < 128 ? high : 0
        return bits &>> UInt64(byte & 63) & 1 == 1
    }

    /// Whether the set contains every byte of the text.
    package func containsAll(of text: String) -> Bool {
        ContiguousText.read(text) { $0.allSatisfy(contains) }
    }

    private static let alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    /// The characters of a token (RFC 9110 §5.6.2).
    package static let token = ASCIISet(alphanumerics + "!#$%&'*+-.^_`|~")
    /// The characters of a boundary (RFC 2046 §5.1.1).
    package static let boundary = ASCIISet(alphanumerics + "'()+_,-./:=? ")
    /// The unreserved characters (RFC 3986 §2.3), which aren't escaped in an interpolated path segment.
    package static let unreserved = ASCIISet(alphanumerics + "-._~")
    /// The unreserved characters, and `/` and `?`, which RFC 3986 §3.4 allows in a query.
    package static let query = ASCIISet(alphanumerics + "-._~/?")
    /// The characters of a path and a query (RFC 3986 §3.3 and §3.4) other than `%`.
    static let pathAndQuery = ASCIISet(alphanumerics + "-._~!$&'()*+,;=:@/?")
}

extension String {
    /// Whether it is a token, like a method or a header field name (RFC 9110 §5.6.2).
    package var isToken: Bool {
        !isEmpty && ASCIISet.token.containsAll(of: self)
    }

    /// Whether it contains a CR, LF or NUL (RFC 9110 §5.5), which would end a header field.
    package var endsHeaderField: Bool {
        ContiguousText.read(self) { bytes in bytes.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 } }
    }
}

extension String {
    /// Whether the string contains one of the given ASCII characters.
    package func containsAny(of characters: String) -> Bool {
        let set = ASCIISet(characters)
        return ContiguousText.read(self) { $0.contains(where: set.contains) }
    }
}

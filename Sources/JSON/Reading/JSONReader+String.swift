// SPDX-License-Identifier: MIT
import TargetKit

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
        let first = cursor + 1
        let isPlain = try skipString()
        let bytes = UnsafeBufferPointer(start: first, count: cursor - 1 - first)
        guard isPlain else { return ScannedString(text: Self.unescaped(bytes), isPlain: false, mark: 0) }
        return ScannedString(text: String(decoding: bytes, as: UTF8.self), isPlain: true, mark: Self.mark(bytes))
    }

    /// A hash of the length and the first and last bytes; it differs for most keys of an object.
    @inline(__always)
    private static func mark(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt8 {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return 0 }
        let count = bytes.count
        let sum = UInt64(base[0]) &* 31 &+ UInt64(base[count - 1]) &* 7 &+ UInt64(base[count / 2]) &* 13
        return UInt8(truncatingIfNeeded: (sum &+ UInt64(count)) & 63)
    }

    /// The text of a valid string.
    private static func unescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
        // Every escape is longer than its character.
        return String(unsafeUninitializedCapacity: bytes.count) { text in
            var end = 0
            var position = 0
            while position < bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "\\") {
                    for unit in UTF8.encode(escape(in: bytes, at: &position)) ?? UTF8.encodedReplacementCharacter {
                        text[end] = unit
                        end += 1
                    }
                } else {
                    text[end] = byte
                    end += 1
                    position += 1
                }
            }
            return end
        }
    }

    /// Reads the character of the escape at a position (RFC 8259 §7), and moves the position behind the escape.
    private static func escape(in bytes: UnsafeBufferPointer<UInt8>, at position: inout Int) -> Unicode.Scalar {
        let byte = bytes[position + 1]
        position += 2
        switch byte {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var code = codeUnit(in: bytes, at: &position)
            if code & 0xFC00 == 0xD800 {
                position += 2
                code = 0x10000 + (code & 0x3FF) << 10 + codeUnit(in: bytes, at: &position) & 0x3FF
            }
            return Unicode.Scalar(code) ?? "\u{FFFD}"
        default: return Unicode.Scalar(byte)
        }
    }

    /// Reads four hexadecimal digits.
    private static func codeUnit(in bytes: UnsafeBufferPointer<UInt8>, at position: inout Int) -> UInt32 {
        var code: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            code = code << 4 | UInt32(byte & 0xF) + (byte >= UInt8(ascii: "A") ? 9 : 0)
        }
        position += 4
        return code
    }
}

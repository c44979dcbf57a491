// SPDX-License-Identifier: MIT

/// Percent-encoding (RFC 3986 §2.1): one pass over the UTF-8 bytes, appended to a buffer that the caller reserved.
///
/// Foundation's `addingPercentEncoding` takes four to six times as long, which is why it is not used here.
enum PercentEncoding {
    /// The ASCII bytes that stand as they are; every other byte is written as `%XX`.
    struct Allowed: Sendable {
        /// One bit for each byte 0–63.
        let low: UInt64
        /// One bit for each byte 64–127.
        let high: UInt64

        /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3): what one path segment may hold of caller's text.
        static var unreserved: Self { Self(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

        /// The unreserved characters, and `/` and `?`, which RFC 3986 §3.4 lets a query hold as data.
        static var query: Self { Self(low: 0x83FF_E000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

        @inline(__always)
        func contains(_ byte: UInt8) -> Bool {
            let bits = byte < 64 ? low : high
            return byte < 128 && (bits >> UInt64(byte & 63)) & 1 == 1
        }
    }

    /// The escaped form of a text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - allowed: The bytes that are not escaped. Default: ``Allowed/query``.
    ///   - spaceAsPlus: Whether a space is written as `+`, as HTML forms do. Default: no, `%20`.
    static func encode(
        _ text: some StringProtocol,
        allowing allowed: Allowed = .query,
        spaceAsPlus: Bool = false
    ) -> String {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(text.utf8.count + 16)
        append(text, to: &buffer, allowing: allowed, spaceAsPlus: spaceAsPlus)
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Appends the escaped form of a text to a buffer.
    @inline(__always)
    static func append(
        _ text: some StringProtocol,
        to buffer: inout [UInt8],
        allowing allowed: Allowed = .query,
        spaceAsPlus: Bool = false
    ) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
            append($0, to: &buffer, allowing: allowed, spaceAsPlus: spaceAsPlus)
        }
        guard isDone == nil else { return }
        // A text bridged from NSString is not contiguous UTF-8: it is copied once.
        Array(text.utf8).withUnsafeBufferPointer {
            append($0, to: &buffer, allowing: allowed, spaceAsPlus: spaceAsPlus)
        }
    }

    /// Appends runs of allowed bytes in one piece, since most text has few bytes to escape.
    private static func append(
        _ bytes: UnsafeBufferPointer<UInt8>,
        to buffer: inout [UInt8],
        allowing allowed: Allowed,
        spaceAsPlus: Bool
    ) {
        var start = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if allowed.contains(byte) {
                index += 1
                continue
            }
            buffer.append(contentsOf: bytes[start..<index])
            if byte == UInt8(ascii: " "), spaceAsPlus {
                buffer.append(UInt8(ascii: "+"))
            } else {
                buffer.append(UInt8(ascii: "%"))
                buffer.append(hexDigit(byte >> 4))
                buffer.append(hexDigit(byte & 15))
            }
            index += 1
            start = index
        }
        buffer.append(contentsOf: bytes[start..<index])
    }

    /// The text whose escaped form the bytes are: what ``append(_:to:allowing:spaceAsPlus:)`` wrote.
    static func decode(_ bytes: some Collection<UInt8>, spaceAsPlus: Bool = false) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                decoded.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte == UInt8(ascii: "+") && spaceAsPlus ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// The upper-case digit, as RFC 3986 §2.1 asks of producers.
    @inline(__always)
    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }
}

// SPDX-License-Identifier: MIT

/// Percent-encoding (RFC 3986 §2.1) in one pass over the UTF-8 bytes.
///
/// Foundation's `addingPercentEncoding` takes four to six times as long.
package enum PercentEncoding {
    /// The bytes that aren't escaped. Every other byte is written as `%XX`.
    enum Allowed: Sendable {
        /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3), for interpolated path segments.
        case unreserved
        /// The unreserved characters, and `/` and `?`, which RFC 3986 §3.4 allows in a query.
        case query

        /// Looks up the byte in a bit set. Comparing ranges takes twice the instructions.
        @inline(__always)
        func contains(_ byte: UInt8) -> Bool {
            let low: UInt64 = self == .query ? 0x83FF_E000_0000_0000 : 0x03FF_6000_0000_0000
            let bits = byte < 64 ? low : 0x47FF_FFFE_87FF_FFFE
            return byte < 128 && (bits &>> UInt64(byte & 63)) & 1 == 1
        }

        /// The number of leading bytes, of eight in one integer (least significant first), that are letters, digits,
        /// `-`, `.` or `_`.
        ///
        /// Adding a constant to a byte below 128 sets the byte's highest bit if the byte reaches a bound, and never
        /// carries into the next byte. This compares all eight bytes at once.
        @inline(__always)
        static func commonCount(_ word: UInt64) -> Int {
            let each: UInt64 = 0x0101_0101_0101_0101
            let highest = each &* 0x80
            let ascii = word & ~highest
            let small = ascii | (each &* 0x20)
            let letters = (small &+ each &* (0x80 - 0x61)) & ~(small &+ each &* (0x7F - 0x7A))
            let digits = (ascii &+ each &* (0x80 - 0x30)) & ~(ascii &+ each &* (0x7F - 0x39))
            let marks = (ascii &+ each &* (0x80 - 0x2D)) & ~(ascii &+ each &* (0x7F - 0x2E))
            let underscores = ~((ascii ^ (each &* 0x5F)) &+ each &* 0x7F)
            let others = ~((letters | digits | marks | underscores) & ~word) & highest
            return others.trailingZeroBitCount / 8
        }
    }

    /// Returns the text with all bytes escaped except unreserved characters, `/` and `?`.
    package static func encode(queryText text: String) -> String { encode(text, allowing: .query) }

    /// Returns the escaped text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - allowed: The bytes that aren't escaped. Default: ``Allowed/query``.
    ///   - spaceAsPlus: Whether a space is written as `+`, as HTML forms do. Default `false`, which writes `%20`.
    static func encode(
        _ text: some StringProtocol,
        allowing allowed: Allowed = .query,
        spaceAsPlus: Bool = false
    ) -> String {
        ContiguousText.read(text) { bytes in
            String(unsafeUninitializedCapacity: bytes.count * 3) { place in
                place.baseAddress.map { store(bytes, at: $0, allowing: allowed, spaceAsPlus: spaceAsPlus) } ?? 0
            }
        }
    }

    /// Appends the escaped form of a text to a buffer.
    @inline(__always)
    static func append(
        _ text: some StringProtocol,
        to buffer: inout ByteBuffer,
        allowing allowed: Allowed = .query,
        spaceAsPlus: Bool = false
    ) {
        ContiguousText.read(text) { bytes in
            buffer.append(upTo: bytes.count * 3) {
                store(bytes, at: $0, allowing: allowed, spaceAsPlus: spaceAsPlus)
            }
        }
    }

    /// Stores the escaped text in memory with a capacity of three times its bytes, and returns the number of bytes
    /// stored.
    private static func store(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: UnsafeMutablePointer<UInt8>,
        allowing allowed: Allowed,
        spaceAsPlus: Bool
    ) -> Int {
        guard var source = bytes.baseAddress else { return 0 }
        let sourceEnd = source + bytes.count
        var end = start
        while source < sourceEnd {
            // Runs that need no escaping are copied eight bytes at a time. The following bytes overwrite bytes stored
            // past the end of a run.
            if sourceEnd - source >= 8 {
                let word = UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
                let run = Allowed.commonCount(UInt64(littleEndian: word))
                UnsafeMutableRawPointer(end).storeBytes(of: word, as: UInt64.self)
                source += run
                end += run
                if run == 8 { continue }
            }
            end += store(source.pointee, at: end, allowing: allowed, spaceAsPlus: spaceAsPlus)
            source += 1
        }
        return end - start
    }

    /// Stores one byte, escaped if needed, and returns the number of bytes stored.
    @inline(__always)
    private static func store(
        _ byte: UInt8,
        at end: UnsafeMutablePointer<UInt8>,
        allowing allowed: Allowed,
        spaceAsPlus: Bool
    ) -> Int {
        if allowed.contains(byte) {
            end.pointee = byte
            return 1
        }
        if byte == UInt8(ascii: " "), spaceAsPlus {
            end.pointee = UInt8(ascii: "+")
            return 1
        }
        end[0] = UInt8(ascii: "%")
        end[1] = hexDigit(byte &>> 4)
        end[2] = hexDigit(byte & 15)
        return 3
    }

    /// The uppercase hexadecimal digit, as RFC 3986 §2.1 recommends.
    @inline(__always)
    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "A") &- 10 &+ value
    }
}

extension PercentEncoding {
    /// Returns a path and query with invalid bytes escaped. Bytes that RFC 3986 §3.3 and §3.4 allow, including percent
    /// escapes, aren't changed.
    static func encode(escapedText text: String) -> String {
        if ContiguousText.read(text, body: { $0.allSatisfy(\.isAllowedInPathAndQuery) }) { return text }
        let bytes = text.utf8
        var escaped = ""
        var start = bytes.startIndex
        while let odd = bytes[start...].firstIndex(where: { !$0.isAllowedInPathAndQuery }) {
            escaped += text[start..<odd]
            let next = bytes.index(after: odd)
            let isEscape = bytes[odd] == UInt8(ascii: "%") && bytes[next...].prefix(2).count(where: \.isHexDigit) == 2
            escaped += isEscape ? "%" : hexadecimal(bytes[odd])
            start = next
        }
        return escaped + text[start...]
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count == 1 ? "%0" + digits : "%" + digits
    }
}

extension UInt8 {
    /// Whether the byte is a `pchar` (RFC 3986 §3.3) other than `%`, a `/`, or a `?`.
    fileprivate var isAllowedInPathAndQuery: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "@")...UInt8(ascii: "Z"),
            UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="),
            UInt8(ascii: "?"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"):
            true
        default: false
        }
    }
}

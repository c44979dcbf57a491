// SPDX-License-Identifier: MIT

/// Percent-encoding (RFC 3986 §2.1) of UTF-8 bytes.
package enum PercentEncoding {
    /// The bytes that aren't escaped. Every other byte is written as `%XX`.
    package enum Allowed: Sendable {
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
    }

    /// Returns the escaped text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - allowed: The bytes that aren't escaped. Default: ``Allowed/query``.
    ///   - spaceAsPlus: Whether a space is written as `+`, as HTML forms do. Default `false`, which writes `%20`.
    package static func encode(
        _ text: String,
        allowing allowed: Allowed = .query,
        spaceAsPlus: Bool = false
    ) -> String {
        if ContiguousText.read(text, body: { $0.allSatisfy(allowed.contains) }) { return text }
        var escaped: [UInt8] = []
        append(text, to: &escaped, allowing: allowed, spaceAsPlus: spaceAsPlus)
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Appends the escaped form of a text.
    package static func append(
        _ text: String,
        to buffer: inout [UInt8],
        allowing allowed: Allowed = .query,
        spaceAsPlus: Bool = false
    ) {
        ContiguousText.read(text) { bytes in
            if bytes.allSatisfy(allowed.contains) { return buffer.append(contentsOf: bytes) }
            for byte in bytes {
                if allowed.contains(byte) {
                    buffer.append(byte)
                } else if byte == UInt8(ascii: " "), spaceAsPlus {
                    buffer.append(UInt8(ascii: "+"))
                } else {
                    append(escaped: byte, to: &buffer)
                }
            }
        }
    }

    /// Appends `%XX` with uppercase digits, as RFC 3986 §2.1 recommends.
    private static func append(escaped byte: UInt8, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "%"))
        buffer.append(hexDigit(byte >> 4))
        buffer.append(hexDigit(byte & 15))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }
}

extension PercentEncoding {
    /// Returns a path and query with invalid bytes escaped. Bytes that RFC 3986 §3.3 and §3.4 allow, including percent
    /// escapes, aren't changed.
    package static func encode(escapedText text: String) -> String {
        if ContiguousText.read(text, body: { $0.allSatisfy(\.isAllowedInPathAndQuery) }) { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isEscape = byte == UInt8(ascii: "%") && bytes[(index + 1)...].prefix(2).count(where: \.isHexDigit) == 2
            if isEscape || byte.isAllowedInPathAndQuery {
                result.append(byte)
            } else {
                append(escaped: byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
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

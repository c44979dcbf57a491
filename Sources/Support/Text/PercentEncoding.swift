// SPDX-License-Identifier: MIT

/// Percent-encoding (RFC 3986 §2.1) of UTF-8 bytes.
package enum PercentEncoding {
    /// Returns the escaped text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - allowed: The bytes that aren't escaped; default: ``ASCIISet/query``. Every other byte is written as `%XX`.
    ///   - spaceAsPlus: Whether a space is written as `+`, as HTML forms do. Default `false`, which writes `%20`.
    package static func encode(
        _ text: String,
        allowing allowed: ASCIISet = .query,
        spaceAsPlus: Bool = false
    ) -> String {
        if allowed.containsAll(of: text) { return text }
        var escaped: [UInt8] = []
        append(text, to: &escaped, allowing: allowed, spaceAsPlus: spaceAsPlus)
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Appends the escaped form of a text.
    package static func append(
        _ text: String,
        to buffer: inout [UInt8],
        allowing allowed: ASCIISet = .query,
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
        let allowed = ASCIISet.pathAndQuery
        if allowed.containsAll(of: text) { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && bytes[(index + 1)...].prefix(2).compactMap(\.hexadecimalDigit).count == 2
            if isEscape || allowed.contains(byte) {
                result.append(byte)
            } else {
                append(escaped: byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

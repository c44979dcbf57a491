// SPDX-License-Identifier: MIT

/// The octets of header fields as text, from which the same octets are sent (RFC 9110 §5.5).
///
/// Octets that aren't UTF-8 are opaque. Each from `0x80` to `0xFF` is a character from U+F780 to U+F7FF, as in the
/// encoding `x-user-defined` of the Encoding Standard. A value in UTF-8 that contains such characters is read in the same
/// way, so that every value has its own text.
package enum FieldOctets {
    /// The text of octets.
    package static func text(_ octets: some Collection<UInt8>) -> String {
        // A byte order mark, which Foundation drops, is a part of the value.
        if let text = String(bytes: octets, encoding: .utf8), text.utf8.count == octets.count, !hasMarks(text) {
            return text
        }
        return String(String.UnicodeScalarView(octets.map { $0 < 0x80 ? Unicode.Scalar($0) : mark($0) }))
    }

    /// The octets of a text.
    package static func octets(_ text: String) -> [UInt8] {
        guard hasMarks(text) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in octet(scalar).map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// The text for people, in which opaque octets are read as ISO-8859-1.
    package static func latin1(_ text: String) -> String {
        guard hasMarks(text) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { octet($0).map { Unicode.Scalar($0) } ?? $0 }))
    }

    /// The text of a URL, with opaque octets escaped (RFC 3986 §2.1).
    package static func percentEncoded(_ text: String) -> String {
        guard hasMarks(text) else { return text }
        return text.unicodeScalars.map { scalar in
            octet(scalar).map { "%" + String($0, radix: 16, uppercase: true) } ?? String(scalar)
        }.joined()
    }

    /// Whether the text contains a character from U+F780 to U+F7FF, in UTF-8 `EF 9E 80` to `EF 9F BF`.
    package static func hasMarks(_ text: String) -> Bool {
        // Most values are ASCII.
        text.utf8.contains(0xEF) && text.unicodeScalars.contains { octet($0) != nil }
    }

    private static func mark(_ octet: UInt8) -> Unicode.Scalar {
        Unicode.Scalar(0xF700 | UInt32(octet)) ?? "\u{FFFD}"
    }

    private static func octet(_ scalar: Unicode.Scalar) -> UInt8? {
        (0xF780...0xF7FF).contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }
}

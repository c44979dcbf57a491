// SPDX-License-Identifier: MIT

extension UInt8 {
    /// The byte with A–Z turned into a–z, every other byte as it is.
    package var asciiLowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }

    /// Whether it is one of A–Z, a–z and 0–9.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether both hold the same bytes when A–Z and a–z count as the same: how RFC 9110 compares names.
    package func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        let left = utf8
        let right = other.utf8
        guard left.count == right.count else { return false }
        return zip(left, right).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Feeds the bytes with A–Z turned into a–z.
    package func hashIgnoringASCIICase(into hasher: inout Hasher) {
        for byte in utf8 { hasher.combine(byte.asciiLowercased) }
        hasher.combine(0xFF as UInt8)
    }
}

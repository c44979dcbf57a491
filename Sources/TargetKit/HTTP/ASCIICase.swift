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
        guard utf8.count == other.utf8.count else { return false }
        return ContiguousText.read(self) { left in
            ContiguousText.read(other) { right in
                left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
    }

    /// Feeds the bytes with A–Z turned into a–z.
    package func hashIgnoringASCIICase(into hasher: inout Hasher) {
        // Eight bytes at a time: combining eight costs as much as combining one.
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

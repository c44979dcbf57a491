// SPDX-License-Identifier: MIT

/// A set of ASCII characters, one bit each: this is asked for every byte of every boundary.
struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: String) {
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
        }
    }

    /// Whether every byte of the text is one of the set.
    func containsAll(of text: String) -> Bool {
        for byte in text.utf8 {
            let bits = byte < 64 ? low : byte < 128 ? high : 0
            if bits >> UInt64(byte & 63) & 1 == 0 { return false }
        }
        return true
    }

    private static let alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    /// RFC 9110 §5.6.2, what the name of a header field is made of.
    static let token = ASCIISet(alphanumerics + "!#$%&'*+-.^_`|~")
    /// RFC 2046 §5.1.1, what a boundary is made of.
    static let boundary = ASCIISet(alphanumerics + "'()+_,-./:=? ")
}

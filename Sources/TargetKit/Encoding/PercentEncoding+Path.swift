// SPDX-License-Identifier: MIT

extension PercentEncoding {
    /// Appends a text that is a path and a query already: what RFC 3986 §3.3 and §3.4 allow in them stands, escapes
    /// included, and every other byte is escaped.
    static func append(escapedText text: String, to buffer: inout [UInt8]) {
        var rest = text[...]
        while let percent = rest.utf8.firstIndex(of: UInt8(ascii: "%")) {
            append(rest[..<percent], to: &buffer, allowing: .pathAndQuery)
            rest = rest[percent...]
            let isEscape = rest.utf8.dropFirst().prefix(2).count(where: \.isHexDigit) == 2
            let taken = rest.utf8.prefix(isEscape ? 3 : 1)
            append(Substring(taken), to: &buffer, allowing: isEscape ? .escape : .unreserved)
            rest = rest[taken.endIndex...]
        }
        append(rest, to: &buffer, allowing: .pathAndQuery)
    }
}

extension PercentEncoding.Allowed {
    /// RFC 3986 §3.3 `pchar` without escapes, the `/` between segments, and the `?` before the query.
    fileprivate static let pathAndQuery = Self("!$&'()*+,-./0123456789:;=?@_~", letters: true)
    /// The bytes of an escape that is there already.
    fileprivate static let escape = Self("%0123456789", letters: true)

    private init(_ bytes: StaticString, letters: Bool) {
        var low: UInt64 = 0
        var high: UInt64 = letters ? 0x07FF_FFFE_07FF_FFFE : 0
        for byte in bytes.description.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
        self.init(low: low, high: high)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"):
            true
        default: false
        }
    }
}

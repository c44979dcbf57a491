// SPDX-License-Identifier: MIT

extension PercentEncoding {
    /// The escaped form of a text that is a path and a query already: what RFC 3986 §3.3 and §3.4 allow in them stands,
    /// escapes included, and every other byte is escaped.
    static func encode(escapedText text: String) -> String {
        let bytes = text.utf8
        guard !bytes.allSatisfy(\.isAllowedInPathAndQuery) else { return text }
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
    /// RFC 3986 §3.3 `pchar` without escapes, the `/` between segments, and the `?` before the query.
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

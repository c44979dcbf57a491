// SPDX-License-Identifier: MIT
import TargetKitTesting

/// The string formats that are checked. All strings match other formats.
enum SchemaFormat {
    /// Whether text has a format.
    static func allows(_ text: String, as format: String) -> Bool {
        switch format {
        case "date": isDate(text[...])
        case "date-time": isDateTime(text)
        case "uuid": isUUID(text)
        case "uri": isURI(text)
        case "email": isEmail(text)
        case "ipv4": isIPv4(text[...])
        case "ipv6": isIPv6(text)
        case "byte": isBase64(text)
        default: true
        }
    }
}

// MARK: - Dates (RFC 3339 §5.6)

extension SchemaFormat {
    /// Parses groups of digits with fixed lengths and separators; returns `nil` for other text.
    private static func numbers(_ text: Substring, _ counts: [Int], separator: Character) -> [Int]? {
        let groups = text.split(separator: separator, omittingEmptySubsequences: false)
        guard groups.map(\.count) == counts, groups.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return groups.compactMap { Int($0) }
    }

    private static func isDate(_ text: Substring) -> Bool {
        guard let numbers = numbers(text, [4, 2, 2], separator: "-") else { return false }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && (1...days[month - 1]).contains(day)
    }

    private static func isDateTime(_ text: String) -> Bool {
        guard let separator = text.firstIndex(where: { $0 == "T" || $0 == "t" }) else { return false }
        return isDate(text[..<separator]) && isTime(text[text.index(after: separator)...])
    }

    private static func isTime(_ text: Substring) -> Bool {
        guard let end = text.firstIndex(where: { "Zz+-".contains($0) }), let offset = minutes(text[end...]) else {
            return false
        }
        let clock = text[..<end].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let numbers = clock.first.flatMap({ numbers($0, [2, 2, 2], separator: ":") }) else { return false }
        if clock.count > 1 {
            guard !clock[1].isEmpty, clock[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        }
        let (hour, minute, second) = (numbers[0], numbers[1], numbers[2])
        guard hour < 24, minute < 60 else { return false }
        // A leap second is the last second of a day in UTC.
        let universal = ((hour * 60 + minute - offset) % 1440 + 1440) % 1440
        return second < 60 || second == 60 && universal == 1439
    }

    /// The minutes of an offset from UTC, for example `Z` or `+05:30`.
    private static func minutes(_ text: Substring) -> Int? {
        if text == "Z" || text == "z" { return 0 }
        guard let numbers = numbers(text.dropFirst(), [2, 2], separator: ":"), numbers[0] < 24, numbers[1] < 60 else {
            return nil
        }
        return (numbers[0] * 60 + numbers[1]) * (text.first == "-" ? -1 : 1)
    }
}

// MARK: - Names and addresses

extension SchemaFormat {
    /// RFC 9562 §4.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.joined().utf8.allSatisfy(isHexadecimal)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }

    /// A scheme followed by the characters of a URI (RFC 3986 §3).
    private static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first, isLetter(first),
            text[..<colon].utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return false }
        let rest = Array(text[text.index(after: colon)...].utf8)
        for (index, byte) in rest.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.dropFirst(index + 1).prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexadecimal) else { return false }
            case 0x30...0x39, UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "]"): break
            default: guard isLetter(byte) || "-._~!$&'()*+,;=:@/?".utf8.contains(byte) else { return false }
            }
        }
        guard rest.filter({ $0 == UInt8(ascii: "#") }).count <= 1 else { return false }
        return hasValidAuthority(String(decoding: rest, as: UTF8.self))
    }

    /// Whether square brackets only enclose the address of a host, and the port is a number.
    private static func hasValidAuthority(_ rest: String) -> Bool {
        guard rest.hasPrefix("//") else { return !rest.contains("[") && !rest.contains("]") }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        guard !rest.dropFirst(2 + authority.count).contains(where: { "[]".contains($0) }) else { return false }
        var host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]"), isIPv6(String(host[..<end].dropFirst())) else { return false }
            host = host[end...].dropFirst()
        } else {
            host = host.drop { $0 != ":" }
        }
        return host.isEmpty
            || host.first == ":" && host.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
                && !authority.prefix { $0 != "[" }.contains("]")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// RFC 5321 §4.1.2.
    private static func isEmail(_ text: String) -> Bool {
        guard let at = text.lastIndex(of: "@") else { return false }
        let (local, domain) = (text[..<at], text[text.index(after: at)...])
        let isQuoted = local.count > 2 && local.first == "\"" && local.last == "\""
        let atoms = local.split(separator: ".", omittingEmptySubsequences: false)
        guard isQuoted || atoms.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isAtomText) }) else { return false }
        if domain.first == "[", domain.last == "]" {
            let address = domain.dropFirst().dropLast()
            return isIPv4(address) || address.hasPrefix("IPv6:") && isIPv6(String(address.dropFirst(5)))
        }
        return domain.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
        }
    }

    private static func isAtomText(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte) || byte >= 0x80
    }

    private static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
                    && (part.first != "0" || part.count == 1)
            }
    }

    /// RFC 4291 §2.2.
    private static func isIPv6(_ text: String) -> Bool {
        let halves = text.components(separatedBy: "::")
        guard halves.count <= 2 else { return false }
        var count = 0
        for (index, half) in halves.enumerated() where !half.isEmpty {
            let groups = half.split(separator: ":", omittingEmptySubsequences: false)
            for (position, group) in groups.enumerated() {
                let isLast = index == halves.count - 1 && position == groups.count - 1
                if isLast, group.contains(".") {
                    guard isIPv4(group) else { return false }
                    count += 2
                } else {
                    guard (1...4).contains(group.utf8.count), group.utf8.allSatisfy(isHexadecimal) else { return false }
                    count += 1
                }
            }
        }
        return halves.count == 1 ? count == 8 : count < 8
    }

    /// RFC 4648 §4, without line breaks.
    private static func isBase64(_ text: String) -> Bool {
        let content = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        let padding = text.utf8.count - content.count
        return text.utf8.count % 4 == 0 && padding <= 2
            && content.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+/".utf8.contains($0) }
    }
}

// SPDX-License-Identifier: MIT

import Foundation

/// Swift names for the names of a document, as Swift's API Design Guidelines write them: `pet_id` is `petID`.
enum SwiftName {
    /// The name of a type, in upper camel case. Text without letters or digits is `Value`.
    static func type(_ text: String) -> String {
        let words = words(of: text)
        let name = words.map { acronyms[$0.lowercased()] ?? capitalized($0) }.joined()
        guard let first = name.first else { return "Value" }
        return first.isNumber ? "Value" + name : name
    }

    /// The name of a property, case or parameter, in lower camel case, not escaped.
    static func member(_ text: String) -> String {
        let words = words(of: text)
        guard let first = words.first else { return symbol(text) ?? "value" }
        let start =
            isUppercase(first) || acronyms[first.lowercased()] != nil ? first.lowercased() : uncapitalized(first)
        let name = start + words.dropFirst().map { acronyms[$0.lowercased()] ?? capitalized($0) }.joined()
        if let digit = name.first, digit.isNumber {
            return (text.hasPrefix("-") ? "minus" : "value") + name
        }
        return name
    }

    /// The name in backticks if it is a reserved word.
    static func escaped(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// A member's name that can be declared in a type: `self` and `init` can't, even in backticks.
    static func declarable(_ name: String) -> String {
        undeclarable.contains(name) ? name + "Value" : name
    }

    /// The words of a text: separated by other characters, or by the case of its letters.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        let bytes = Array(plain(text).utf8)
        for (index, byte) in bytes.enumerated() {
            guard byte.isLetterOrDigit else {
                // An apostrophe doesn't end a word.
                if byte != UInt8(ascii: "'") || word.isEmpty { flush(&word, into: &words) }
                continue
            }
            if byte.isUppercase, let last = word.last {
                let next = bytes.indices.contains(index + 1) ? bytes[index + 1] : 0
                let endsAcronym = last.isUppercase && next.isLowercase && !isPluralEnd(bytes, at: index + 1)
                if !last.isUppercase || endsAcronym { flush(&word, into: &words) }
            }
            word.append(byte)
        }
        flush(&word, into: &words)
        return words
    }

    /// Whether a lone `s` ends an acronym's plural: `URLs`.
    private static func isPluralEnd(_ bytes: [UInt8], at index: Int) -> Bool {
        guard bytes[index] == UInt8(ascii: "s") else { return false }
        return !bytes.indices.contains(index + 1) || !bytes[index + 1].isLowercase
    }

    private static func flush(_ word: inout [UInt8], into words: inout [String]) {
        if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
        word.removeAll(keepingCapacity: true)
    }

    /// Letters outside ASCII without their marks, or as their code points.
    private static func plain(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var plain = ""
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            if scalar.isASCII {
                plain.unicodeScalars.append(scalar)
            } else if scalar.properties.isAlphabetic {
                plain += " u" + String(scalar.value, radix: 16)
            } else if scalar.properties.canonicalCombiningClass == .notReordered {
                plain += " "
            }
        }
        return plain
    }

    private static func isUppercase(_ word: String) -> Bool { !word.utf8.contains { $0.isLowercase } }

    private static func capitalized(_ word: String) -> String {
        let rest = word.count > 1 && isUppercase(word) ? word.dropFirst().lowercased() : String(word.dropFirst())
        return word.prefix(1).uppercased() + rest
    }

    private static func uncapitalized(_ word: String) -> String { word.prefix(1).lowercased() + word.dropFirst() }

    /// The name of a text without letters or digits, as in the values `<` and `>=` of an enum.
    private static func symbol(_ text: String) -> String? {
        guard !text.isEmpty else { return "empty" }
        let names = text.map { symbols[$0] ?? "" }.filter { !$0.isEmpty }
        guard let first = names.first else { return nil }
        return first + names.dropFirst().map(capitalized).joined()
    }

    private static let symbols: [Character: String] = [
        "<": "less", ">": "greater", "=": "equal", "+": "plus", "-": "minus", "*": "star", "/": "slash", "!": "not",
        "&": "and", "|": "or", "%": "percent", "@": "at", "#": "number", "$": "dollar", "~": "tilde", "^": "caret",
        ".": "dot", ",": "comma", ":": "colon", ";": "semicolon", "_": "underscore", "?": "question", " ": "space",
    ]

    private static let acronyms: [String: String] = [
        "id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs", "uri": "URI", "uris": "URIs", "uuid": "UUID",
        "uuids": "UUIDs", "http": "HTTP", "https": "HTTPS", "api": "API", "apis": "APIs", "html": "HTML",
        "json": "JSON", "xml": "XML", "ip": "IP", "ips": "IPs", "tls": "TLS", "ssl": "SSL", "sql": "SQL", "ssh": "SSH",
        "css": "CSS", "csv": "CSV", "pdf": "PDF", "jwt": "JWT", "dns": "DNS", "utf8": "UTF8",
    ]

    private static let undeclarable: Set = ["self", "init", "Self", "Type", "Protocol"]

    static let keywords: Set = [
        "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while", "Any", "Self", "Type",
        "Protocol",
    ]
}

extension UInt8 {
    fileprivate var isUppercase: Bool { (0x41...0x5A).contains(self) }
    fileprivate var isLowercase: Bool { (0x61...0x7A).contains(self) }
    fileprivate var isLetterOrDigit: Bool { isUppercase || isLowercase || (0x30...0x39).contains(self) }
}

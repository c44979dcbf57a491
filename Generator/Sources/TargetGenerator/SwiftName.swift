// SPDX-License-Identifier: MIT

import Foundation

/// Swift names for the names of a document, as Swift's API Design Guidelines write them: `pet_id` is `petID`.
enum SwiftName {
    /// The name of a type, in upper camel case. Text without letters or digits is `Value`.
    static func type(_ text: String) -> String {
        let words = words(of: text)
        let name = words.map { acronyms[$0.lowercased()] ?? capitalized($0) }.joined()
        guard let first = name.first else { return "Value" }
        return first.isDigit ? "Value" + name : name
    }

    /// The name of a property, case or parameter, in lower camel case, not escaped.
    static func member(_ text: String) -> String {
        let words = words(of: text)
        guard let first = words.first else { return symbol(text) ?? "value" }
        let start =
            isUppercase(first) || acronyms[first.lowercased()] != nil ? first.lowercased() : uncapitalized(first)
        let name = start + words.dropFirst().map { acronyms[$0.lowercased()] ?? capitalized($0) }.joined()
        if let digit = name.first, digit.isDigit {
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

    /// The words of a text: separated by characters that a name can't have, or by the case of its letters.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        var word: [Unicode.Scalar] = []
        let scalars = Array((given[text] ?? text).precomposedStringWithCanonicalMapping.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            guard scalar.isPartOfName, !word.isEmpty || scalar.properties.canonicalCombiningClass == .notReordered
            else {
                // An apostrophe doesn't end a word.
                if scalar != "'" || word.isEmpty { flush(&word, into: &words) }
                continue
            }
            if let last = word.last, endsWord(last, at: index, in: scalars) { flush(&word, into: &words) }
            word.append(scalar)
        }
        flush(&word, into: &words)
        return words
    }

    /// Whether a character ends the word before it: by its case, or between letters with case and others.
    private static func endsWord(_ last: Unicode.Scalar, at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let scalar = scalars[index]
        if last.properties.isAlphabetic, scalar.properties.isAlphabetic,
            last.properties.isCased != scalar.properties.isCased
        {
            return true
        }
        guard scalar.properties.isUppercase else { return false }
        let isAcronym = last.properties.isUppercase
        let next = scalars.indices.contains(index + 1) ? scalars[index + 1] : " "
        let endsAcronym = isAcronym && next.properties.isLowercase && !isPluralEnd(scalars, at: index + 1)
        return !isAcronym || endsAcronym
    }

    /// Whether a lone `s` ends an acronym's plural: `URLs`.
    private static func isPluralEnd(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        guard scalars[index] == "s" else { return false }
        return !scalars.indices.contains(index + 1) || !scalars[index + 1].properties.isLowercase
    }

    private static func flush(_ word: inout [Unicode.Scalar], into words: inout [String]) {
        if !word.isEmpty {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: word)
            words.append(String(text))
        }
        word.removeAll(keepingCapacity: true)
    }

    /// Other names for those of the document, while its files are generated.
    @TaskLocal static var given: [String: String] = [:]

    /// Whether a name has all letters and digits of a text; otherwise, the text needs another name.
    static func expresses(_ text: String) -> Bool {
        if given[text] != nil { return true }
        let lost = text.precomposedStringWithCanonicalMapping.unicodeScalars.contains { scalar in
            !scalar.isASCII && !scalar.isPartOfName && !scalar.properties.isWhitespace
                && !scalar.properties.generalCategory.isPunctuation
        }
        return !lost && (!words(of: text).isEmpty || symbol(text) != nil)
    }

    private static func isUppercase(_ word: String) -> Bool {
        !word.unicodeScalars.contains(where: \.properties.isLowercase)
    }

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

extension Unicode.Scalar {
    /// Whether the character is a letter, a digit or a mark, and can be in a name of Swift.
    fileprivate var isPartOfName: Bool {
        if isASCII { return properties.isAlphabetic || (0x30...0x39).contains(value) }
        return properties.isXIDContinue && !properties.isDefaultIgnorableCodePoint && value != 0xB7 && value < 0xE0000
            && ![.connectorPunctuation, .otherPunctuation].contains(properties.generalCategory)
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isPunctuation: Bool {
        switch self {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }
}

extension Character {
    /// Whether a name can't begin with the character. Chinese numerals are letters.
    fileprivate var isDigit: Bool { unicodeScalars.first?.properties.generalCategory == .decimalNumber }
}

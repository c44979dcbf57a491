// SPDX-License-Identifier: MIT
import Foundation

/// The regular expressions of schemas, which are those of ECMAScript, each read once.
struct SchemaPatterns {
    /// How long one match may take, in seconds. A pattern such as `(a+)+$` can take years for a text of a server.
    private static let longestMatch: TimeInterval = 1

    private var expressions: [String: NSRegularExpression?] = [:]

    /// Whether a pattern matches a part of a text; `nil` if it isn't valid, or takes too long.
    mutating func matches(_ pattern: String, in text: String) -> Bool? {
        guard let expression = expression(pattern) else { return nil }
        let range = NSRange(text.startIndex..., in: text)
        let end = Date(timeIntervalSinceNow: Self.longestMatch)
        var isMatch = false
        var isStopped = false
        expression.enumerateMatches(in: text, options: .reportProgress, range: range) { result, _, stop in
            isMatch = result != nil
            isStopped = result == nil && Date() > end
            if isMatch || isStopped { stop.pointee = true }
        }
        return isStopped ? nil : isMatch
    }

    private mutating func expression(_ pattern: String) -> NSRegularExpression? {
        if let known = expressions[pattern] { return known }
        let expression = try? NSRegularExpression(pattern: Self.translated(pattern))
        expressions[pattern] = .some(expression)
        return expression
    }

    /// The pattern in ICU's syntax: `\d` and `\w` are ASCII, `$` is the end only, and `[` in a class is a character.
    static func translated(_ pattern: String) -> String {
        var result = ""
        var isClass = false
        var characters = pattern.unicodeScalars.makeIterator()
        while let character = characters.next() {
            switch character {
            case "\\":
                guard let escaped = characters.next() else { return result + "\\" }
                result += Self.escape(escaped, isClass: isClass)
            case "[" where isClass: result += "\\["
            case "[":
                isClass = true
                result += "["
            case "]":
                isClass = false
                result += "]"
            case "&" where isClass, "~" where isClass: result += "\\\(character)"
            case "$" where !isClass: result += "\\z"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func escape(_ character: Unicode.Scalar, isClass: Bool) -> String {
        switch character {
        case "d": isClass ? "0-9" : "[0-9]"
        case "D": "[^0-9]"
        case "w": isClass ? "A-Za-z0-9_" : "[A-Za-z0-9_]"
        case "W": "[^A-Za-z0-9_]"
        case "s": "[\\s\\uFEFF]"
        case "S": "[^\\s\\uFEFF]"
        case "Z", "A", "z", "G", "Q", "E", "R", "X", "h", "H", "N": "\\x{FFFFFFFF}"
        default: "\\\(character)"
        }
    }
}

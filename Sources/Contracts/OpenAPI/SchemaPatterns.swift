// SPDX-License-Identifier: MIT
import TargetKitTesting

/// The ECMAScript regular expressions of schemas, each compiled once.
struct SchemaPatterns {
    /// The maximum number of reports of progress during a match, about half a second, because a pattern such as `(a+)+$`
    /// can take years. ICU gives up after twice as many, and then reports no match.
    private static let maximumProgress = 2000

    private var expressions: [String: NSRegularExpression?] = [:]

    /// Whether a pattern matches a part of the text; `nil` if the pattern is invalid or takes too long.
    mutating func matches(_ pattern: String, in text: String) -> Bool? {
        guard let expression = expression(pattern) else { return nil }
        let range = NSRange(text.startIndex..., in: text)
        var progress = 0
        var isMatch = false
        var isStopped = false
        expression.enumerateMatches(in: text, options: .reportProgress, range: range) { result, _, stop in
            isMatch = result != nil
            progress += isMatch ? 0 : 1
            isStopped = progress > Self.maximumProgress
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

    /// Converts a pattern to ICU's syntax: `\d` and `\w` match ASCII, `$` matches only the end, and in a class, `[` and
    /// a `-` beside an escape for several characters are characters (ECMA-262, B.1.2.8).
    static func translated(_ pattern: String) -> String {
        var result = ""
        var isClass = false
        /// Whether the last element of a class stands for several characters.
        var isAfterSet = false
        var rest = Substring(pattern).unicodeScalars
        while let character = rest.popFirst() {
            defer { if character != "\\" { isAfterSet = false } }
            switch character {
            case "\\":
                guard let escaped = rest.popFirst() else { return result + "\\" }
                result += Self.escape(escaped, isClass: isClass)
                isAfterSet = Self.sets.contains(escaped)
            case "-" where isClass && (isAfterSet || Self.startsWithSet(rest)): result += "\\-"
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

    private static let sets: Set<Unicode.Scalar> = ["d", "D", "w", "W", "s", "S"]

    private static func startsWithSet(_ text: Substring.UnicodeScalarView) -> Bool {
        text.first == "\\" && text.dropFirst().first.map(sets.contains) == true
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

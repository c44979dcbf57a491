// SPDX-License-Identifier: MIT
import TargetKitTesting

/// A path of an OpenAPI document, for example `/pets/{id}` or `/files/{name}.json`.
struct PathTemplate: Sendable {
    /// The path in the document.
    let text: String
    /// The text around the expressions of each segment. For example, `{name}.json` has `""` and `".json"`.
    private let segments: [[String]]

    init(_ text: String) {
        self.text = text
        let path = text.prefix { $0 != "?" && $0 != "#" }
        segments = Self.split(path).map { Self.literals($0).map { RequestParts.decoded($0) } }
    }

    /// The segments of a path, ignoring slashes within expressions.
    private static func split(_ path: Substring) -> [Substring] {
        guard path.first == "/", path.count > 1 else { return [] }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func literals(_ segment: Substring) -> [String] {
        var literals = [""]
        var isExpression = false
        for character in segment {
            switch character {
            case "{" where !isExpression: isExpression = true
            case "}" where isExpression:
                isExpression = false
                literals.append("")
            default: if !isExpression { literals[literals.count - 1].append(character) }
            }
        }
        return literals
    }

    /// The number of characters outside expressions, by which a concrete path takes precedence over a template.
    var literalCount: Int { segments.joined().reduce(0) { $0 + $1.count } }

    /// The segments before the path, which belong to the server's URL; `nil` if the request's path doesn't end with
    /// this path.
    func base(of path: [String]) -> ArraySlice<String>? {
        guard path.count >= segments.count else { return nil }
        let split = path.count - segments.count
        guard zip(segments, path[split...]).allSatisfy({ Self.matches($0, text: $1) }) else { return nil }
        return path[..<split]
    }

    /// Whether a segment consists of the literals with at least one character between each two.
    private static func matches(_ literals: [String], text: String) -> Bool {
        guard let first = literals.first, let last = literals.last, literals.count > 1 else {
            return text == literals.first
        }
        guard text.hasPrefix(first) else { return false }
        var rest = text.dropFirst(first.count)
        for literal in literals.dropFirst().dropLast() where !literal.isEmpty {
            guard let end = rest.dropFirst().firstRange(of: literal)?.upperBound else { return false }
            rest = rest[end...]
        }
        return rest.count > last.count && rest.hasSuffix(last)
    }
}

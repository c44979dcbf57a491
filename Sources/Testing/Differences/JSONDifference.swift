// SPDX-License-Identifier: MIT
import TargetKit

/// A difference between two JSON documents, at a key path.
package struct JSONDifference: Sendable, Hashable {
    /// The kind of difference.
    package enum Kind: Sendable, Hashable {
        /// The expected value is missing.
        case missing(JSONValue)
        /// The value isn't expected.
        case added(JSONValue)
        /// The value differs, with the same type.
        case changed(from: JSONValue, to: JSONValue)
        /// The type of the value differs; `null` is a separate type.
        case typeChanged(from: JSONValue, to: JSONValue)
    }

    /// The keys and indices of the value, in the format of `JSONValue.subscript(path:)`; empty for the document itself.
    /// A missing element has its index in the expected document.
    package let path: String
    /// The kind of difference.
    package let kind: Kind

    /// The differences between two documents, in the order of the expected and then of the found document.
    ///
    /// Numbers are compared as decimals, so `1` and `1.0` are equal, and a Boolean isn't a number. The order of keys
    /// doesn't matter. The elements of arrays are aligned, so one inserted element is one difference.
    package static func between(_ expected: JSONValue, found: JSONValue) -> [JSONDifference] {
        var comparison = JSONComparison()
        comparison.compare(expected, found: found)
        return comparison.differences
    }

    /// The key path of a difference between two documents. Arrays are compared by index.
    static func firstPath(_ expected: JSONValue, found: JSONValue) -> String {
        switch (expected, found) {
        case (.object(let expected), .object(let found)):
            for (key, value) in expected where found[key] != value {
                return joined(escaped(key), rest: found[key].map { firstPath(value, found: $0) })
            }
            return found.first { expected[$0.key] == nil }.map { escaped($0.key) } ?? ""
        case (.array(let expected), .array(let found)):
            let pairs = zip(expected, found)
            guard let (index, pair) = pairs.enumerated().first(where: { $0.element.0 != $0.element.1 }) else {
                return "\(min(expected.count, found.count))"
            }
            return joined("\(index)", rest: firstPath(pair.0, found: pair.1))
        default: return ""
        }
    }

    private static func joined(_ key: String, rest: String?) -> String {
        rest.map { $0.isEmpty ? key : "\(key).\($0)" } ?? key
    }

    /// The differences between two documents as lines, up to a limit.
    ///
    /// - Parameter subject: The text before each key path, for example `body`; default: empty.
    package static func lines(
        _ expected: JSONValue,
        found: JSONValue,
        subject: String = "",
        limit: Int = 20
    ) -> [String] {
        let differences = between(expected, found: found)
        let lines = differences.prefix(limit).map { $0.line(subject) }
        return differences.count > limit ? lines + ["… and \(differences.count - limit) more differences"] : lines
    }

    private func line(_ subject: String) -> String {
        let place = [subject, path].filter { !$0.isEmpty }.joined(separator: " ")
        return (place.isEmpty ? "" : place + ": ") + text
    }

    private var text: String {
        switch kind {
        case .missing(let value): "missing, expected \(value.excerpt)"
        case .added(let value): "not expected, found \(value.excerpt)"
        case .changed(let old, let new): "expected \(old.excerpt), found \(new.excerpt)"
        case .typeChanged(let old, let new): "expected \(old.typedExcerpt), found \(new.typedExcerpt)"
        }
    }
}

extension JSONDifference: CustomStringConvertible {
    /// The key path, the expected value and the found value on one line.
    package var description: String { line("") }
}

/// Walks through two documents.
private struct JSONComparison {
    var differences: [JSONDifference] = []
    private var path: [String] = []

    mutating func compare(_ expected: JSONValue, found: JSONValue) {
        switch (expected, found) {
        case (.object(let expected), .object(let found)): compare(expected, found: found)
        case (.array(let expected), .array(let found)): compare(expected, found: found)
        case _ where expected == found: break
        case _ where expected.typeName == found.typeName: add(.changed(from: expected, to: found))
        default: add(.typeChanged(from: expected, to: found))
        }
    }

    private mutating func compare(_ expected: JSONObject, found: JSONObject) {
        for (key, value) in expected {
            at(JSONDifference.escaped(key)) { comparison in
                if let other = found[key] {
                    comparison.compare(value, found: other)
                } else {
                    comparison.add(.missing(value))
                }
            }
        }
        for (key, value) in found where expected[key] == nil {
            at(JSONDifference.escaped(key)) { $0.add(.added(value)) }
        }
    }

    private mutating func compare(_ expected: [JSONValue], found: [JSONValue]) {
        for step in ArrayAlignment.steps(from: expected, to: found) {
            switch step {
            case .equal: break
            case .replaced(let old, let new): at("\(new)") { $0.compare(expected[old], found: found[new]) }
            case .removed(let old): at("\(old)") { $0.add(.missing(expected[old])) }
            case .inserted(let new): at("\(new)") { $0.add(.added(found[new])) }
            }
        }
    }

    private mutating func at(_ key: String, body: (inout JSONComparison) -> Void) {
        path.append(key)
        body(&self)
        path.removeLast()
    }

    private mutating func add(_ kind: JSONDifference.Kind) {
        differences.append(JSONDifference(path: path.joined(separator: "."), kind: kind))
    }
}

extension JSONDifference {
    /// The escaped key for a key path.
    package static func escaped(_ key: String) -> String {
        key.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: ".", with: "\\.")
    }
}

extension JSONValue {
    /// The name of the type in messages.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "the Boolean"
        case .number: "the number"
        case .string: "the string"
        case .array: "the array"
        case .object: "the object"
        }
    }

    /// The type and the value.
    package var typedExcerpt: String { self == .null ? "null" : "\(typeName) \(excerpt)" }

    /// The start of the JSON text on one line.
    package var excerpt: String {
        // Avoids writing a large value completely only to truncate it.
        switch self {
        case .array(let elements) where elements.count > 40: "[… \(elements.count) elements]"
        case .object(let object) where object.count > 40: "{… \(object.count) members}"
        default: description.excerpt(80)
        }
    }
}

extension String {
    /// The first characters, and an ellipsis if there are more.
    package func excerpt(_ limit: Int) -> String {
        let beginning = prefix(limit)
        return beginning.endIndex == endIndex ? self : beginning + "…"
    }
}

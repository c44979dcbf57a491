// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A difference between two JSON documents, at a key path.
package struct JSONDifference: Sendable, Hashable {
    /// What differs.
    package enum Kind: Sendable, Hashable {
        /// The expected value isn't there.
        case missing(JSONValue)
        /// A value that isn't expected.
        case added(JSONValue)
        /// Another value of the same type.
        case changed(from: JSONValue, to: JSONValue)
        /// A value of another type; `null` is a type of its own.
        case typeChanged(from: JSONValue, to: JSONValue)
    }

    /// The keys and indices that lead to the value, as `JSONValue.subscript(path:)` reads them; empty for the document
    /// itself. The index of a missing element is its index in the expected document.
    package let path: String
    /// What differs.
    package let kind: Kind

    /// The differences between two documents, in the order of the expected one, then of the found one.
    ///
    /// Numbers are compared as decimals: `1` and `1.0` are equal, and a Boolean isn't a number. The order of keys
    /// doesn't matter. The elements of arrays are aligned, so one element that was inserted is one difference.
    package static func between(_ expected: JSONValue, found: JSONValue) -> [JSONDifference] {
        var comparison = JSONComparison()
        comparison.compare(expected, found: found)
        return comparison.differences
    }

    /// The key path of a difference between two documents that aren't equal; arrays are compared by index.
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

    /// The differences of two documents as lines, up to a number.
    ///
    /// - Parameter subject: Precedes each key path, for example `body`; default: nothing.
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
    /// The key path, the expected value, and the found one, on one line.
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
    /// The key as it is written in a key path.
    static func escaped(_ key: String) -> String {
        key.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: ".", with: "\\.")
    }
}

extension JSONValue {
    /// The type, as messages name it.
    var typeName: String {
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
    var typedExcerpt: String { self == .null ? "null" : "\(typeName) \(excerpt)" }

    /// The beginning of the JSON text, on one line.
    package var excerpt: String {
        // A large value isn't written completely only to be cut.
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

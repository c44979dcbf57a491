// SPDX-License-Identifier: MIT

/// A value of a JSON or YAML document. Members keep the document's order, and numbers their digits.
package indirect enum Node: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number as JSON text, so that no digit is lost.
    case number(String)
    case string(String)
    case array([Node])
    case object(Members)

    /// The members of an object, in the document's order.
    package struct Members: Sendable, Hashable {
        package private(set) var names: [String] = []
        package private(set) var values: [Node] = []
        private var positions: [String: Int] = [:]

        package init() {}

        package init(_ pairs: [(String, Node)]) {
            for (name, value) in pairs { self[name] = value }
        }

        /// The member's value; setting replaces a member of the same name in its place.
        package subscript(name: String) -> Node? {
            get { positions[name].map { values[$0] } }
            set {
                guard let newValue else { return }
                if let position = positions[name] {
                    values[position] = newValue
                } else {
                    positions[name] = values.count
                    names.append(name)
                    values.append(newValue)
                }
            }
        }

        /// Whether there is a member of that name.
        package func contains(_ name: String) -> Bool { positions[name] != nil }
        package var count: Int { values.count }
        package var isEmpty: Bool { values.isEmpty }
        package var pairs: Zip2Sequence<[String], [Node]> { zip(names, values) }
    }
}

extension Node {
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    package var array: [Node]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var object: Members? {
        if case .object(let members) = self { members } else { nil }
    }

    package var int: Int? {
        guard case .number(let text) = self else { return nil }
        if let number = Int(text) { return number }
        return Double(text).flatMap { Int(exactly: $0) }
    }

    package var double: Double? {
        if case .number(let text) = self { Double(text) } else { nil }
    }

    /// The text of a string, number or Boolean value.
    package var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// What the value is, for a message.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean value"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

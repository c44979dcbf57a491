// SPDX-License-Identifier: MIT

import Foundation

/// Header fields as they went over the wire: in order, with their spelling, repeated ones kept apart.
public struct LoopbackHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// One line of the head.
    public struct Field: Sendable, Hashable {
        /// The name, spelled as it was sent.
        public var name: String
        /// The value, without the white space around it.
        public var value: String

        /// A field with that name and value; neither is checked, so that a test can send what is forbidden.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields in order.
    public var fields: [Field]

    /// A list of those fields.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The fields of a dictionary literal, in order; a name may come more than once.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0.0, $0.1) }
    }

    /// The value of the first field with that name, in any case of letters.
    public subscript(_ name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    /// The values of all fields with that name, in any case of letters.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// Adds a field at the end.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name, value))
    }

    /// One line for each field, as on the wire.
    public var description: String { fields.map { "\($0.name): \($0.value)\r\n" }.joined() }

    /// Whether a comma-separated field holds that token, in any case of letters (RFC 9110 §5.6.1).
    func has(_ token: String, in name: String) -> Bool {
        all(name).contains { value in
            value.lowercased().split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == token }
        }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && one.lowercased() == other.lowercased()
    }
}

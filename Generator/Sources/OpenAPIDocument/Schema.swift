// SPDX-License-Identifier: MIT

/// A schema, read as JSON Schema 2020-12 as far as OpenAPI 3.1 uses it. Version 3.0's `nullable` is a type here.
package struct Schema {
    /// The type that a value must have.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case object, array, string, integer, number, boolean, null
    }

    /// The values of `additionalProperties`.
    package enum AdditionalProperties {
        case unspecified
        case forbidden
        case any
        case schema(Place)
    }

    package let place: Place

    package init(_ place: Place) { self.place = place }

    /// The types without `null`; empty: not said.
    package var kinds: [Kind] { declaredKinds.filter { $0 != .null } }

    private var declaredKinds: [Kind] {
        switch place.node.object?["type"] {
        case .string(let name)?: [Kind(rawValue: name)].compactMap { $0 }
        case .array(let names)?: names.compactMap { $0.string.flatMap(Kind.init) }
        case .null?: [.null]
        default: []
        }
    }

    /// A `type` that no version knows; `nil` if there is none.
    package var unknownKind: String? {
        guard let name = place.string("type"), Kind(rawValue: name) == nil else { return nil }
        return name
    }

    package var isNullable: Bool {
        place.flag("nullable") || declaredKinds.contains(.null)
            || (place.node.object?["enum"]?.array ?? []).contains(.null)
    }

    /// Whether the only allowed value is null.
    package var isOnlyNull: Bool {
        if declaredKinds == [.null] { return true }
        return enumValues.map { $0.allSatisfy { $0 == .null } } ?? false
    }

    package var format: String? { place.string("format") }
    package var title: String? { place.string("title") }
    package var summary: String? { place.string("description") }
    package var isDeprecated: Bool { place.flag("deprecated") }
    package var isReadOnly: Bool { place.flag("readOnly") }
    package var isWriteOnly: Bool { place.flag("writeOnly") }

    /// The values of `enum`, or of `const`.
    package var enumValues: [Node]? {
        if let values = place.node.object?["enum"]?.array, !values.isEmpty { return values }
        if let constant = place.node.object?["const"] { return [constant] }
        return nil
    }

    package var defaultValue: Node? { place.node.object?["default"] }
    package var examples: [Node] {
        guard let members = place.node.object else { return [] }
        return [members["example"], members["examples"]?.array?.first].compactMap { $0 }
    }

    package var reference: String? { place.string("$ref") }
    package var properties: [(name: String, place: Place)] { place["properties"]?.members ?? [] }
    package var required: Set<String> {
        Set((place.node.object?["required"]?.array ?? []).compactMap(\.string))
    }
    package var items: Place? {
        guard let items = place["items"], items.node.object != nil else { return nil }
        return items
    }
    package var tuple: [Place] { place["prefixItems"]?.elements ?? place["items"]?.elements ?? [] }
    package var allOf: [Place] { place["allOf"]?.elements ?? [] }
    package var anyOf: [Place] { place["anyOf"]?.elements ?? [] }
    package var oneOf: [Place] { place["oneOf"]?.elements ?? [] }
    package var discriminator: Place? { place["discriminator"] }

    package var additionalProperties: AdditionalProperties {
        guard let value = place["additionalProperties"] else { return .unspecified }
        switch value.node {
        case .bool(let flag): return flag ? .any : .forbidden
        case .object(let members): return members.isEmpty ? .any : .schema(value)
        default: return .unspecified
        }
    }

    /// Keywords that no type can express, beyond those that only restrict a value.
    package static let unsupportedKeywords = [
        "not", "if", "patternProperties", "dependentSchemas", "unevaluatedProperties", "$dynamicRef", "xml",
        "contentSchema",
    ]

    /// Keywords that change the type which a `$ref` beside them names.
    package static let structuralKeywords = [
        "properties", "additionalProperties", "items", "allOf", "oneOf", "anyOf", "enum", "const",
    ]
}

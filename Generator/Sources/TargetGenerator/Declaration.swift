// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// A type of the generated code.
struct Declaration {
    enum Shape {
        case object(ObjectModel)
        case enumeration(EnumerationModel)
        case union(UnionModel)
    }

    let name: String
    /// The name of the schema or API whose file has the declaration.
    let group: String
    let documentation: String?
    let place: Place
    var shape: Shape
    var isError = false
}

/// A struct with properties.
struct ObjectModel {
    struct Property {
        let wireName: String
        let name: String
        /// The type without the optionality.
        let type: SwiftType
        let place: Place
        let documentation: String?
        let isRequired: Bool
        let isNullable: Bool
        let isReadOnly: Bool
        let isWriteOnly: Bool
        let defaultValue: Node?
        /// Whether the property is optional in Swift.
        var isOptional: Bool
        /// Whether the value is in a box, because the struct would contain itself.
        var isBoxed = false

        /// The type as it is written.
        var source: String {
            let base = isBoxed ? "Indirect<\(type.source)>" : type.source
            return isOptional ? base + "?" : base
        }
    }

    var properties: [Property]
    /// The type of other members' values; `nil`: they are ignored.
    var additional: SwiftType?
    /// The name of the property for the other members.
    var additionalName = "additionalProperties"
    /// The name of the property for what is sent as null; `nil`: nothing can be.
    var nullsName: String?

    /// The properties that are left out without a value, and can be null.
    var nullable: [Property] { properties.filter { !$0.isRequired && $0.isNullable && !$0.isReadOnly } }
}

/// A struct around a raw value, with the document's values as static members.
struct EnumerationModel {
    struct Member {
        let name: String
        let value: Node
        let documentation: String?
    }

    let rawType: SwiftType
    let members: [Member]
}

/// An enum with an associated value for each alternative.
struct UnionModel {
    struct Variant {
        let name: String
        let type: SwiftType
        let place: Place
        /// The discriminator's values for this alternative.
        var tags: [String] = []
        /// The value that is added to an encoded alternative without one; `nil` if there are several.
        var tag: String?
        /// Whether the discriminator is in the encoded value.
        var tagging = Tagging.own
    }

    /// How the value of the discriminator gets into an encoded alternative.
    enum Tagging: Hashable {
        /// The alternative encodes it.
        case own
        /// The alternative has no such property, so the union adds it.
        case added
        /// The alternative encodes it only if this expression isn't `nil`; otherwise, the union adds it.
        case unless(String, isProperty: Bool)
    }

    var variants: [Variant]
    /// The property whose value chooses the alternative; `nil`: they are tried in order.
    let discriminator: String?
    var isIndirect = false
    /// Whether another union tells the values that it knows from others.
    var needsIsOther = false

    /// The alternatives for each value of the discriminator, in the document's order: values with equal alternatives
    /// together. Several alternatives for a value are tried in order.
    var choices: [(tags: [String], variants: [Variant])] {
        let tags = variants.flatMap(\.tags).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let groups = tags.grouped { tag in variants.indices.filter { variants[$0].tags.contains(tag) } }
        return groups.map { ($0.elements, $0.key.map { variants[$0] }) }
    }

    /// The alternatives that need no discriminator.
    var untagged: [Variant] {
        variants.filter { if case .unless(_, isProperty: true) = $0.tagging { true } else { false } }
    }
}

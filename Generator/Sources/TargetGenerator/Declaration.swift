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
        case unless(String)
    }

    var variants: [Variant]
    /// The property whose value chooses the alternative; `nil`: they are tried in order.
    let discriminator: String?
    var isIndirect = false
}

// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// A schema and all parts of its `allOf`, as one.
struct MergedSchema {
    /// A set of alternatives among the parts.
    struct Alternatives {
        let place: Place
        let members: [Place]
    }

    private(set) var properties: [(name: String, place: Place)] = []
    private(set) var required: Set<String> = []
    private(set) var additional = Schema.AdditionalProperties.unspecified
    private(set) var alternatives: [Alternatives] = []
    /// The parts that say another type than an object.
    private(set) var others: [Place] = []
    private var positions: [String: Int] = [:]

    /// Merges a schema with the parts of its `allOf`.
    init(_ place: Place, builder: TypeBuilder) {
        var seen: Set<String> = []
        add(place, builder: builder, seen: &seen)
    }

    /// Adds an alternative's parts.
    mutating func add(_ place: Place, builder: TypeBuilder) {
        var seen: Set<String> = []
        add(place, builder: builder, seen: &seen)
    }

    /// The parts without the alternatives.
    var base: MergedSchema {
        var base = self
        base.alternatives = []
        return base
    }

    /// The same with every property optional.
    mutating func relax(to required: Set<String>) { self.required = required }

    private mutating func add(_ place: Place, builder: TypeBuilder, seen: inout Set<String>) {
        guard let target = builder.resolved(place), seen.insert(target.key).inserted else { return }
        let schema = Schema(target)
        for part in schema.allOf { add(part, builder: builder, seen: &seen) }
        for property in schema.properties { add(property.name, property.place) }
        required.formUnion(schema.required)
        switch schema.additionalProperties {
        case .unspecified, .forbidden: break
        case .any, .schema: additional = schema.additionalProperties
        }
        for members in [schema.oneOf, schema.anyOf] where !members.isEmpty {
            let telling = members.filter { !$0.isOnlyConstraint }
            if !telling.isEmpty { alternatives.append(Alternatives(place: target, members: telling)) }
        }
        let isOther = schema.kinds.first.map { $0 != .object } ?? (schema.enumValues != nil || schema.items != nil)
        if isOther { others.append(target) }
    }

    private mutating func add(_ name: String, _ place: Place) {
        guard let position = positions[name] else {
            positions[name] = properties.count
            properties.append((name, place))
            return
        }
        // A part that only describes a property doesn't replace its type.
        if !place.isOnlyAnnotation { properties[position].place = place }
    }
}

extension Place {
    private static let annotations: Set = [
        "description", "title", "default", "example", "examples", "nullable", "deprecated", "readOnly", "writeOnly",
        "externalDocs", "xml", "$comment",
    ]

    /// Whether a schema says nothing about the type of a value.
    var isOnlyAnnotation: Bool {
        (node.object?.names ?? []).allSatisfy { Self.annotations.contains($0) || $0.hasPrefix("x-") }
    }

    /// Whether a schema only restricts a value that another one describes.
    var isOnlyConstraint: Bool {
        let constraints: Set = ["required", "not", "minProperties", "maxProperties"]
        return (node.object?.names ?? []).allSatisfy {
            constraints.contains($0) || Self.annotations.contains($0) || $0.hasPrefix("x-")
                || ($0 == "type" && node.object?["required"] != nil && node.object?["type"]?.string == "object")
        }
    }
}

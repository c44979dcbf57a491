// SPDX-License-Identifier: MIT
import OpenAPIDocument

extension TypeBuilder {
    /// The type of a schema with `allOf`, or with properties beside alternatives.
    func merged(_ schema: Schema, in context: Context) -> SwiftType {
        if schema.properties.isEmpty, schema.oneOf.isEmpty, schema.anyOf.isEmpty {
            let telling = schema.allOf.filter { !$0.isOnlyAnnotation }
            if telling.count == 1, let only = telling.first, schema.required.isEmpty {
                return type(of: only, in: context)
            }
            if telling.isEmpty { return .json }
        }
        let parts = MergedSchema(schema.place, builder: self)
        if parts.properties.isEmpty {
            if let only = parts.alternatives.first {
                noteOthers(Array(parts.alternatives.dropFirst()), of: schema)
                return union(of: only.members, at: only.place, in: context)
            }
            if let other = parts.others.first { return type(of: other, in: context) }
            return dictionary(parts, in: context)
        }
        if parts.alternatives.isEmpty {
            return declare(schema.place, in: context) { .object(self.model(of: parts, at: schema.place, in: context)) }
        }
        return objectsWithBase(parts, of: schema, in: context)
    }

    private func noteOthers(_ others: [MergedSchema.Alternatives], of schema: Schema) {
        for other in others {
            notes.add(other.place, "several unions", "a second set of alternatives is not expressed; wrote the first.")
        }
    }

    private func dictionary(_ parts: MergedSchema, in context: Context) -> SwiftType {
        if case .schema(let values) = parts.additional {
            return .dictionary(type(of: values, in: context.inside("Value")))
        }
        return .dictionary(.json)
    }

    /// An enum of the alternatives, each with the common properties; one struct for several sets of alternatives.
    private func objectsWithBase(_ parts: MergedSchema, of schema: Schema, in context: Context) -> SwiftType {
        let alternatives = parts.alternatives.flatMap(\.members)
        let areObjects = alternatives.allSatisfy { member in
            guard let target = resolved(member) else { return false }
            let merged = MergedSchema(target, builder: self)
            return merged.others.isEmpty && merged.alternatives.isEmpty
        }
        guard parts.alternatives.count == 1, areObjects, let only = parts.alternatives.first else {
            return flattened(parts, of: schema, in: context)
        }
        guard only.members.count > 1 else { return flattened(parts, of: schema, in: context) }
        return declare(schema.place, in: context) {
            var names = NameTable(reserved: ["other", "isOther"])
            let variants = only.members.enumerated().map { index, member in
                let name = self.alternativeName(member, index: index)
                let inner = context.inside(name)
                let type = self.declare(member.tagged("with base of \(schema.place.key)"), in: inner) {
                    var merged = parts.base
                    merged.add(member, builder: self)
                    return .object(self.model(of: merged, at: member, in: inner))
                }
                let caseName = names.claim(SwiftName.declarable(SwiftName.member(name)))
                return UnionModel.Variant(name: caseName, type: type, place: member)
            }
            return .union(self.unionModel(variants, at: only.place, base: parts.base))
        }
    }

    /// One struct with the properties of all alternatives, which are optional.
    private func flattened(_ parts: MergedSchema, of schema: Schema, in context: Context) -> SwiftType {
        let message = "properties beside several or nested alternatives; wrote one struct with all of them optional."
        notes.add(schema.place, "oneOf with properties", message)
        return declare(schema.place, in: context) {
            var merged = parts.base
            for member in parts.alternatives.flatMap(\.members) { merged.add(member, builder: self) }
            merged.relax(to: parts.required)
            return .object(self.model(of: merged.base, at: schema.place, in: context))
        }
    }

    /// The properties of a struct.
    func model(of parts: MergedSchema, at place: Place, in context: Context) -> ObjectModel {
        var names = NameTable(reserved: ["hashValue"])
        let known = Set(parts.properties.map(\.name))
        for name in parts.required.subtracting(known).sorted() {
            notes.add(place, "required", "“\(name)” is required and has no schema; wrote no property for it.")
        }
        let properties = parts.properties.map { name, place in
            property(name, place, isRequired: parts.required.contains(name), names: &names, in: context)
        }
        var additional: SwiftType?
        switch parts.additional {
        case .any: additional = .json
        case .schema(let values): additional = type(of: values, in: context.inside("AdditionalValue"))
        case .unspecified, .forbidden: break
        }
        let additionalName = names.claim("additionalProperties")
        return ObjectModel(properties: properties, additional: additional, additionalName: additionalName)
    }

    private func property(
        _ wireName: String,
        _ place: Place,
        isRequired: Bool,
        names: inout NameTable,
        in context: Context
    ) -> ObjectModel.Property {
        let type = type(of: place, in: context.inside(wireName))
        let target = Schema(resolved(place) ?? place)
        let own = Schema(place)
        let isNullable = type.isOptional
        notes.addName(wireName, SwiftName.member(wireName), at: place)
        return ObjectModel.Property(
            wireName: wireName,
            name: names.claim(SwiftName.declarable(SwiftName.member(wireName))),
            type: type.unwrapped,
            place: place,
            documentation: documentation(own, target),
            isRequired: isRequired,
            isNullable: isNullable,
            isReadOnly: own.isReadOnly || target.isReadOnly,
            isWriteOnly: own.isWriteOnly || target.isWriteOnly,
            defaultValue: own.defaultValue ?? target.defaultValue,
            isOptional: !isRequired || isNullable
        )
    }

    private func documentation(_ own: Schema, _ target: Schema) -> String? {
        let text = own.summary ?? own.title ?? target.summary ?? target.title
        var parts = [text].compactMap { $0 }.filter { !$0.isEmpty }
        if own.isReadOnly || target.isReadOnly { parts.append("Read-only: only the server sets it.") }
        if own.isWriteOnly || target.isWriteOnly { parts.append("Write-only: the server doesn't return it.") }
        if own.isDeprecated || target.isDeprecated { parts.append("- Important: Deprecated.") }
        if let text = (own.defaultValue ?? target.defaultValue)?.scalarText, !text.isEmpty, text.count < 80 {
            parts.append("- Default: `\(text.replacing("\n", with: " "))`.")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "\n\n")
    }
}

extension Place {
    /// A place for something made from this one, with an identity of its own.
    func tagged(_ tag: String) -> Place { Place(node: node, file: file, pointer: pointer + " " + tag) }
}

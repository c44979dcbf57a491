// SPDX-License-Identifier: MIT
import OpenAPIDocument

extension TypeBuilder {
    /// The type of a schema with `oneOf` or `anyOf` and no properties of its own.
    func union(_ schema: Schema, in context: Context) -> SwiftType {
        let members = schema.oneOf.isEmpty ? schema.anyOf : schema.oneOf
        if !schema.oneOf.isEmpty, !schema.anyOf.isEmpty {
            notes.add(schema.place, "several unions", "`anyOf` beside `oneOf` is not expressed; wrote `oneOf`.")
        }
        if members.allSatisfy(\.isOnlyConstraint) { return single(schema, kind: schema.kinds.first, in: context) }
        return union(of: members, at: schema.place, in: context)
    }

    /// The type of alternatives.
    func union(of members: [Place], at place: Place, in context: Context) -> SwiftType {
        let telling = members.filter { !isNull($0) }
        let isNullable = telling.count < members.count
        guard telling.count > 1 else {
            guard let only = telling.first else { return .json }
            return type(of: only, in: context).optional(isNullable)
        }
        if let type = openEnumeration(telling, at: place, in: context) { return type.optional(isNullable) }
        if let type = sharedType(telling, in: context) { return type.optional(isNullable) }
        return declare(place, in: context) { .union(self.unionModel(self.variants(telling, in: context), at: place)) }
            .optional(isNullable)
    }

    private func isNull(_ place: Place) -> Bool {
        guard let target = resolved(place) else { return false }
        return Schema(target).isOnlyNull
    }

    /// The type that all alternatives have, if they differ only in what they allow.
    private func sharedType(_ members: [Place], in context: Context) -> SwiftType? {
        let types = members.map { member -> SwiftType? in
            guard let target = resolved(member) else { return .json }
            let schema = Schema(target)
            guard schema.enumValues == nil, schema.allOf.isEmpty, schema.oneOf.isEmpty, schema.anyOf.isEmpty,
                schema.properties.isEmpty, schema.kinds.count == 1, let kind = schema.kinds.first, kind != .object,
                kind != .array
            else { return nil }
            return single(schema, kind: kind, in: context)
        }
        guard let first = types.first, let first, types.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    private func variants(_ members: [Place], in context: Context) -> [UnionModel.Variant] {
        var seen: Set<SwiftType> = []
        var names = NameTable()
        var variants: [UnionModel.Variant] = []
        for (index, member) in members.enumerated() {
            let name = alternativeName(member, index: index)
            let type = type(of: member, in: context.inside(name)).unwrapped
            guard seen.insert(type).inserted else { continue }
            let isNamed = type.declarationName != nil
            let caseName = isNamed ? SwiftName.member(name) : type.word
            variants.append(
                UnionModel.Variant(name: names.claim(SwiftName.declarable(caseName)), type: type, place: member)
            )
        }
        return variants
    }

    /// A name for an alternative: the schema's, its title, or its number.
    func alternativeName(_ member: Place, index: Int) -> String {
        if let target = resolved(member), target.key != member.key { return target.lastName }
        if let title = member.string("title"), !SwiftName.words(of: title).isEmpty, title.count < 40 { return title }
        return "Option\(index + 1)"
    }

    /// The union of types that `type` lists.
    func unionOfKinds(_ schema: Schema, in context: Context) -> SwiftType {
        declare(schema.place, in: context) {
            var names = NameTable()
            var seen: Set<SwiftType> = []
            let variants = schema.kinds.compactMap { kind -> UnionModel.Variant? in
                let inner = Place(
                    node: schema.place.node,
                    file: schema.place.file,
                    pointer: schema.place.pointer + " \(kind)"
                )
                let type = self.single(Schema(inner), kind: kind, in: context.inside(kind.rawValue))
                guard seen.insert(type).inserted else { return nil }
                return UnionModel.Variant(name: names.claim(type.word), type: type, place: inner)
            }
            return .union(UnionModel(variants: variants, discriminator: nil))
        }
    }
}

// MARK: - Discriminators

extension TypeBuilder {
    /// The alternatives with the discriminator of the schema, if it names all of them.
    func unionModel(_ variants: [UnionModel.Variant], at place: Place) -> UnionModel {
        guard let property = place["discriminator"]?.string("propertyName") else {
            return UnionModel(variants: variants, discriminator: nil)
        }
        var tagged = variants
        let mapping = place["discriminator"]?["mapping"]?.members ?? []
        var used: Set<String> = []
        for (name, target) in mapping {
            guard let reference = target.node.string, let key = placeKey(reference, from: place),
                let index = variants.firstIndex(where: { resolved($0.place)?.key == key })
            else {
                notes.add(target, "discriminator", "the mapping refers to no alternative; wrote no case for it.")
                continue
            }
            if used.insert(name).inserted { tagged[index].tags.append(name) }
        }
        for index in tagged.indices where tagged[index].tags.isEmpty {
            for tag in implicitTags(tagged[index].place, property: property) where used.insert(tag).inserted {
                tagged[index].tags.append(tag)
            }
        }
        let isComplete = tagged.allSatisfy { !$0.tags.isEmpty && $0.type.declarationName != nil }
        guard isComplete else {
            notes.add(
                place,
                "discriminator",
                "it doesn't name every alternative; wrote a union that tries them in order."
            )
            return UnionModel(variants: variants, discriminator: nil)
        }
        return UnionModel(variants: tagged, discriminator: property)
    }

    private func placeKey(_ reference: String, from place: Place) -> String? {
        let isName = !reference.contains("#") && !reference.contains("/") && !reference.contains(".")
        let reference = isName ? "#/components/schemas/" + reference : reference
        guard let target = try? document.place(of: reference, from: place) else { return nil }
        return resolved(target)?.key
    }

    /// The values of an alternative's own property, or the schema's name.
    private func implicitTags(_ place: Place, property: String) -> [String] {
        guard let target = resolved(place) else { return [] }
        let parts = MergedSchema(target, builder: self)
        if let found = parts.properties.first(where: { $0.name == property }), let value = resolved(found.place),
            let values = Schema(value).enumValues
        {
            let tags = values.compactMap(\.string)
            if tags.count == 1 || target.key == place.key { return tags }
        }
        return target.key == place.key ? [] : [target.lastName]
    }
}

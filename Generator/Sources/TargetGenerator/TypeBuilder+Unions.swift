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
        var names = NameTable(reserved: ["other", "isOther"])
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
    /// The alternatives with the discriminator of the schema, if it has values for all of them.
    ///
    /// - Parameter base: The schema with the properties that all alternatives have.
    func unionModel(_ variants: [UnionModel.Variant], at place: Place, base: MergedSchema? = nil) -> UnionModel {
        guard let property = place["discriminator"]?.string("propertyName") else {
            return UnionModel(variants: variants, discriminator: nil)
        }
        let mapping = mappedTags(variants, at: place)
        let known = base?.properties.first { $0.name == property }.map { listedTags($0.place) }
        let listed = variants.indices.map { index -> [String]? in
            if let tags = mapping[index] { return tags }
            guard let tags = implicitTags(variants[index].place, property: property) else { return nil }
            if case .values(let values) = known, !Set(values).isSuperset(of: tags) { return nil }
            return tags
        }
        let isNamed = variants.allSatisfy { $0.type.declarationName != nil }
        guard isNamed, !listed.contains(where: { $0?.isEmpty ?? true }) else {
            let message = "it doesn't name every alternative; wrote a union that tries them in order."
            notes.add(place, "discriminator", message)
            return UnionModel(variants: variants, discriminator: nil)
        }
        var tagged = variants
        for index in tagged.indices {
            tagged[index].tags = ownTags(listed, mapping: mapping, of: variants[index].place, index: index)
            tagged[index].tag = mapping[index]?.first ?? (tagged[index].tags.count == 1 ? tagged[index].tags[0] : nil)
        }
        let model = UnionModel(variants: tagged, discriminator: property)
        for choice in model.choices where choice.variants.count > 1 {
            let tags = choice.tags.map { "“\($0)”" }.joined(separator: ", ")
            let message = "several alternatives have the value \(tags); wrote a union that tries them in order."
            notes.add(place, "discriminator", message)
        }
        return model
    }

    /// The values by the index of the alternative that the mapping names.
    private func mappedTags(_ variants: [UnionModel.Variant], at place: Place) -> [Int: [String]] {
        var tags: [Int: [String]] = [:]
        for (name, target) in place["discriminator"]?["mapping"]?.members ?? [] {
            guard let reference = target.node.string, let key = placeKey(reference, from: place),
                let index = variants.firstIndex(where: { resolved($0.place)?.key == key })
            else {
                notes.add(target, "discriminator", "the mapping refers to no alternative; wrote no case for it.")
                continue
            }
            tags[index, default: []].append(name)
        }
        return tags
    }

    /// The values of an alternative: of those that others have too, only its name if that is among them, and none that
    /// the mapping gives to others.
    private func ownTags(_ listed: [[String]?], mapping: [Int: [String]], of place: Place, index: Int) -> [String] {
        let tags = listed[index] ?? []
        guard mapping[index] == nil else { return tags }
        let others = Set(listed.indices.filter { $0 != index }.flatMap { listed[$0] ?? [] })
        if let name = resolved(place)?.lastName, tags.contains(name), !others.isDisjoint(with: tags) { return [name] }
        let mapped = Set(mapping.values.joined())
        let free = tags.filter { !mapped.contains($0) }
        return free.isEmpty ? tags : free
    }

    private func placeKey(_ reference: String, from place: Place) -> String? {
        let isName = !reference.contains("#") && !reference.contains("/") && !reference.contains(".")
        let reference = isName ? "#/components/schemas/" + reference : reference
        guard let target = try? document.place(of: reference, from: place) else { return nil }
        return resolved(target)?.key
    }

    /// The values of an alternative without a mapping: those that its own property lists, those of its alternatives, or
    /// the schema's name (OpenAPI 3.1 §4.8.25); `nil` if they aren't known.
    private func implicitTags(_ place: Place, property: String, within open: Set<String> = []) -> [String]? {
        guard let target = resolved(place) else { return nil }
        // A union that leads back to itself adds nothing.
        if open.contains(target.key) { return [] }
        let parts = MergedSchema(target, builder: self)
        if let found = parts.properties.first(where: { $0.name == property }) {
            switch listedTags(found.place) {
            case .values(let values): return values
            case .others: return nil
            case .any: break
            }
        } else if let alternatives = parts.alternatives.first {
            let mapping = alternatives.place["discriminator"]?["mapping"]?.members ?? []
            var tags: [String] = []
            for member in alternatives.members where !isNull(member) {
                guard let key = resolved(member)?.key else { return nil }
                let mapped = mapping.filter { name, target in
                    target.node.string.flatMap { placeKey($0, from: alternatives.place) } == key
                }
                let own =
                    mapped.isEmpty
                    ? implicitTags(member, property: property, within: open.union([target.key])) : mapped.map(\.name)
                guard let own else { return nil }
                tags += own.filter { !tags.contains($0) }
            }
            return tags
        }
        return target.key == place.key ? nil : [target.lastName]
    }

    /// What a property can be.
    private enum ListedTags {
        case any
        case values([String])
        /// Values that are no strings.
        case others
    }

    /// The values of a property, also behind `allOf` and in alternatives such as `anyOf: [{enum: […]}, {type: 'null'}]`.
    private func listedTags(_ place: Place, depth: Int = 0) -> ListedTags {
        guard depth < 16, let target = resolved(place) else { return .any }
        let schema = Schema(target)
        if let values = schema.enumValues?.filter({ $0 != .null }), !values.isEmpty {
            let texts = values.compactMap(\.string)
            return texts.count == values.count ? .values(texts) : .others
        }
        for part in schema.allOf {
            let listed = listedTags(part, depth: depth + 1)
            if case .any = listed { continue }
            return listed
        }
        var all: [String] = []
        for part in schema.oneOf + schema.anyOf where !(resolved(part).map { Schema($0).isOnlyNull } ?? false) {
            guard case .values(let values) = listedTags(part, depth: depth + 1) else { return .any }
            all += values.filter { !all.contains($0) }
        }
        return all.isEmpty ? .any : .values(all)
    }
}

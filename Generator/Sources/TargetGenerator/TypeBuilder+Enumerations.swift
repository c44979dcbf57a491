// SPDX-License-Identifier: MIT
import OpenAPIDocument

extension TypeBuilder {
    /// The type of a schema with `enum` or `const`; `nil` if it has none, or if the values don't decide the type.
    func enumeration(_ schema: Schema, in context: Context) -> SwiftType? {
        guard let values = schema.enumValues?.filter({ $0 != .null }), !values.isEmpty else { return nil }
        guard schema.kinds.first != .object, schema.kinds.first != .array, schema.kinds.count < 2 else {
            notes.add(schema.place, "enum", "an enum of objects or arrays; wrote the type without its values.")
            return nil
        }
        if values.allSatisfy({ $0.bool != nil }) { return schema.kinds.first == .string ? nil : .bool }
        let kind = schema.kinds.first
        if kind == .integer || kind == nil, values.allSatisfy({ $0.int != nil }) {
            // `1.0` is an integer in a document, and none in Swift.
            let integers = values.compactMap { value in value.int.map { Node.number("\($0)") } }
            return declareEnumeration(integers, rawType: .int, schema: schema, in: context)
        }
        if kind == .string || kind == nil, kind == .string || values.allSatisfy({ $0.string != nil }) {
            let texts = values.compactMap { $0.scalarText.map(Node.string) }
            if texts.count == values.count {
                return declareEnumeration(texts, rawType: .string, schema: schema, in: context)
            }
        }
        let fallback = kind.map { single(schema, kind: $0, in: context) } ?? .json
        notes.add(schema.place, "enum", "the values have different types; wrote `\(fallback.source)`.")
        return fallback
    }

    private func declareEnumeration(
        _ values: [Node],
        rawType: SwiftType,
        schema: Schema,
        in context: Context
    ) -> SwiftType {
        declare(schema.place, in: context) {
            .enumeration(self.model(of: values, rawType: rawType, extensions: schema.place))
        }
    }

    private func model(of values: [Node], rawType: SwiftType, extensions: Place) -> EnumerationModel {
        var names = NameTable(reserved: ["rawValue"])
        var seen: Set<Node> = []
        let known = extensions.node.object?["x-enum-varnames"]?.array ?? extensions.node.object?["x-enumNames"]?.array
        let members = values.enumerated().compactMap { index, value -> EnumerationModel.Member? in
            guard seen.insert(value).inserted else { return nil }
            let text = value.scalarText ?? ""
            var name = SwiftName.declarable(SwiftName.member(text))
            if rawType == .int, let names = known, names.count == values.count, let given = names[index].string {
                name = SwiftName.declarable(SwiftName.member(given))
            }
            notes.addName(text, name, at: extensions)
            return EnumerationModel.Member(name: names.claim(name), value: value, documentation: nil)
        }
        return EnumerationModel(rawType: rawType, members: members)
    }

    /// A struct for alternatives that are all strings, some of which list values: the values, and any other one.
    func openEnumeration(_ members: [Place], at place: Place, in context: Context) -> SwiftType? {
        var values: [Node] = []
        for member in members {
            guard let target = resolved(member) else { return nil }
            let schema = Schema(target)
            guard schema.allOf.isEmpty, schema.oneOf.isEmpty, schema.anyOf.isEmpty else { return nil }
            if let own = schema.enumValues?.filter({ $0 != .null }) {
                guard own.allSatisfy({ $0.string != nil }) else { return nil }
                values += own
            } else {
                guard schema.kinds == [.string], StringFormat.type(of: schema, notes: notes) == .string else {
                    return nil
                }
            }
        }
        guard !values.isEmpty else { return nil }
        return declare(place, in: context) {
            .enumeration(self.model(of: values, rawType: .string, extensions: place))
        }
    }
}

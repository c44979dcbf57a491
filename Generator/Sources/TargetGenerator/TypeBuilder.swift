// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Finds the Swift type of each schema, and declares the types that need a declaration.
final class TypeBuilder {
    /// Where a schema without a name of its own is: the name to give its type, and the file of its declaration.
    struct Context {
        let name: String
        let group: String

        /// The context of a schema within this one.
        func inside(_ name: String) -> Context { Context(name: self.name + SwiftName.type(name), group: group) }
    }

    let document: Document
    let notes: Notes
    var names: NameTable
    /// The declarations by name.
    var declarations: [String: Declaration] = [:]
    /// The names of the document's own schemas, by place.
    private var componentNames: [String: String] = [:]
    private var types: [String: SwiftType] = [:]
    private var open: Set<String> = []
    /// The place of each declaration's schema.
    private var declarationNames: [String: String] = [:]
    private var usedNames: Set<String> = []

    init(document: Document, notes: Notes, names: NameTable) {
        self.document = document
        self.notes = notes
        self.names = names
        for (name, place) in (document.root["components"]?["schemas"]?.members ?? []).sorted(by: { $0.name < $1.name })
        {
            let wanted = SwiftName.type(name)
            let claimed = self.names.claim(wanted, alternative: wanted + "Model")
            notes.addName(name, claimed, isTaken: claimed != wanted, at: place)
            componentNames[place.key] = claimed
        }
    }

    /// The type of a schema. A nullable schema's type is optional.
    func type(of place: Place, in context: Context) -> SwiftType {
        guard let target = resolved(place) else { return .json }
        let isNullable = target.key != place.key && Schema(place).isNullable
        if let type = types[target.key] { return type.optional(isNullable) }
        if let name = declarationNames[target.key] {
            return SwiftType.named(name).optional(isNullable || Schema(target).isNullable)
        }
        guard open.insert(target.key).inserted else {
            notes.add(target, "recursion", "the schema refers to itself without an object between; wrote `JSONValue`.")
            return .json
        }
        defer { open.remove(target.key) }
        var type = freshType(of: Schema(target), in: self.context(of: target, from: place, in: context))
        if Schema(target).isNullable { type = type.optional() }
        types[target.key] = type
        return type.optional(isNullable)
    }

    /// The place that a schema refers to; `nil`, with a note, if there is none.
    func resolved(_ place: Place) -> Place? {
        guard place.string("$ref") != nil else { return place }
        for name in Schema.structuralKeywords {
            guard let beside = place[name] else { continue }
            notes.add(
                beside,
                "beside $ref",
                "`\(name)` beside `$ref` is not expressed; wrote the type that `$ref` names."
            )
        }
        do {
            return try document.resolved(place)
        } catch {
            notes.add(place, "$ref", "\(error.message) Wrote `JSONValue`.")
            return nil
        }
    }

    private func context(of target: Place, from place: Place, in context: Context) -> Context {
        if let name = componentNames[target.key] { return Context(name: name, group: name) }
        guard target.key != place.key else { return context }
        let name = names.claim(SwiftName.type(target.lastName), alternative: SwiftName.type(target.lastName) + "Model")
        componentNames[target.key] = name
        return Context(name: name, group: name)
    }

    /// The name of a component whose type is that of its only part, or else a new name.
    private func freeName(in context: Context) -> String {
        if context.name == context.group, !usedNames.contains(context.name) { return context.name }
        return names.claim(context.name)
    }

    /// Declares a type and returns it. The name is claimed before the parts are built, which may refer to it.
    func declare(
        _ place: Place,
        in context: Context,
        documentation: String? = nil,
        shape: () -> Declaration.Shape
    ) -> SwiftType {
        let name = componentNames[place.key] ?? freeName(in: context)
        usedNames.insert(name)
        declarationNames[place.key] = name
        let documentation = documentation ?? Schema(place).summary ?? Schema(place).title
        let shape = shape()
        declarations[name] = Declaration(
            name: name,
            group: context.group,
            documentation: documentation,
            place: place,
            shape: shape
        )
        return .named(name)
    }
}

extension TypeBuilder {
    private func freshType(of schema: Schema, in context: Context) -> SwiftType {
        guard schema.place.node.object != nil else {
            switch schema.place.node.bool {
            case true?: break
            case false?: notes.add(schema.place, "false schema", "no value is valid; wrote `JSONValue`.")
            case nil: notes.add(schema.place, "schema", "a schema must be an object or a boolean; wrote `JSONValue`.")
            }
            return .json
        }
        noteUnsupported(schema)
        if schema.isOnlyNull { return .json }
        if let type = enumeration(schema, in: context) { return type }
        if !schema.allOf.isEmpty || schema.isBaseOfUnion { return merged(schema, in: context) }
        if !schema.oneOf.isEmpty || !schema.anyOf.isEmpty { return union(schema, in: context) }
        if schema.kinds.count > 1 { return unionOfKinds(schema, in: context) }
        return single(schema, kind: schema.kinds.first, in: context)
    }

    private func noteUnsupported(_ schema: Schema) {
        for keyword in Schema.unsupportedKeywords {
            guard let place = schema.place[keyword] else { continue }
            notes.add(place, keyword, "`\(keyword)` is not expressed; wrote the type without it.")
        }
        if schema.discriminator != nil, schema.oneOf.isEmpty, schema.anyOf.isEmpty {
            let message = "a discriminator without `oneOf` or `anyOf`; wrote the schema's own properties only."
            notes.add(schema.place, "discriminator", message)
        }
    }

    /// The type of a schema of one kind.
    func single(_ schema: Schema, kind: Schema.Kind?, in context: Context) -> SwiftType {
        switch kind {
        case .object: return object(schema, in: context)
        case .array: return array(schema, in: context)
        case .string: return StringFormat.type(of: schema, notes: notes)
        case .integer: return integer(schema)
        case .number: return number(schema)
        case .boolean: return .bool
        case .null: return .json
        case nil: break
        }
        if !schema.properties.isEmpty { return object(schema, in: context) }
        if case .schema = schema.additionalProperties { return object(schema, in: context) }
        if schema.items != nil { return array(schema, in: context) }
        if let kind = schema.unknownKind {
            let type: SwiftType = kind == "file" ? .data : .json
            notes.add(schema.place, "type", "“\(kind)” is not a type of JSON Schema; wrote `\(type.source)`.")
            return type
        }
        if schema.format != nil, StringFormat.isKnown(schema.format) {
            return StringFormat.type(of: schema, notes: notes)
        }
        return .json
    }

    private func integer(_ schema: Schema) -> SwiftType {
        switch schema.format {
        case "int32": .int32
        case "int64": .int64
        case "uint32": .uint32
        case "uint64": .uint64
        default: .int
        }
    }

    private func number(_ schema: Schema) -> SwiftType {
        switch schema.format {
        case "float": .float
        case "decimal": .decimal
        case "int32": .int32
        case "int64": .int64
        default: .double
        }
    }

    private func array(_ schema: Schema, in context: Context) -> SwiftType {
        let tuple = schema.tuple
        guard tuple.isEmpty else {
            var element = Set(tuple.map { type(of: $0, in: context.inside("Element")) })
            if let items = schema.items { element.insert(type(of: items, in: context.inside("Element"))) }
            guard element.count == 1, let only = element.first else {
                notes.add(schema.place, "prefixItems", "an array of different types; wrote `[JSONValue]`.")
                return .array(.json)
            }
            return .array(only)
        }
        guard let items = schema.items else { return .array(.json) }
        return .array(type(of: items, in: context.inside("Element")))
    }

    private func object(_ schema: Schema, in context: Context) -> SwiftType {
        if schema.properties.isEmpty {
            switch schema.additionalProperties {
            case .schema(let values): return .dictionary(type(of: values, in: context.inside("Value")))
            case .any, .unspecified: return .dictionary(.json)
            case .forbidden: break
            }
        }
        return declare(schema.place, in: context) {
            let parts = MergedSchema(schema.place, builder: self)
            return .object(model(of: parts, at: schema.place, in: context))
        }
    }
}

extension Schema {
    /// Whether the schema has properties of its own beside alternatives.
    fileprivate var isBaseOfUnion: Bool {
        !properties.isEmpty && !(oneOf.isEmpty && anyOf.isEmpty)
    }
}

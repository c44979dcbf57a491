// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// What follows from how declarations refer to each other and where operations use them.
struct TypeGraph {
    private let types: TypeBuilder
    private let apis: [API]

    init(types: TypeBuilder, apis: [API]) { (self.types, self.apis) = (types, apis) }

    private var sortedNames: [String] { types.declarations.keys.sorted() }

    /// The types that a declaration's parts have.
    private func parts(of name: String) -> [SwiftType] {
        switch types.declarations[name]?.shape {
        case .object(let model): model.properties.map(\.type) + [model.additional].compactMap { $0 }
        case .union(let model): model.variants.map(\.type)
        case .enumeration, nil: []
        }
    }

    private func reachable(from start: [SwiftType]) -> Set<String> {
        var found: Set<String> = []
        var rest = start
        while let type = rest.popLast() {
            for case .named(let name) in type.parts where found.insert(name).inserted { rest += parts(of: name) }
        }
        return found
    }

    /// Whether any declaration or operation has a `Date`.
    var usesDates: Bool {
        let operations = apis.flatMap(\.operations)
        var used = types.declarations.keys.flatMap { parts(of: $0) }
        used += operations.flatMap { $0.parameters.map(\.type) }
        used += operations.compactMap { $0.body?.type }
        for operation in operations {
            for response in operation.responses.successes + operation.responses.errors {
                if case .json(let type, _) = response.content { used.append(type) }
            }
            if case .multipart(let form)? = operation.body?.kind { used += form.fields.map(\.type) }
        }
        return used.contains { $0.parts.contains(.date) }
    }

    // MARK: - Read-only and write-only

    /// Makes a required property optional that is absent in one direction.
    mutating func relaxOneWayProperties() {
        let operations = apis.flatMap(\.operations)
        let sent = reachable(from: operations.compactMap { $0.body?.type })
        let received = reachable(
            from: operations.flatMap { $0.responses.successes + $0.responses.errors }.compactMap { response in
                if case .json(let type, _) = response.content { type } else { nil }
            }
        )
        for name in sortedNames {
            guard case .object(var model) = types.declarations[name]?.shape else { continue }
            for (index, property) in model.properties.enumerated() {
                let isAbsent =
                    property.isReadOnly && sent.contains(name) || property.isWriteOnly && received.contains(name)
                if isAbsent { model.properties[index].isOptional = true }
            }
            if sent.contains(name), !model.nullable.isEmpty {
                var names = NameTable(reserved: model.properties.map(\.name) + [model.additionalName])
                model.nullsName = names.claim("nulls")
            }
            types.declarations[name]?.shape = .object(model)
        }
    }

    // MARK: - Recursion

    /// The declarations whose values lie within those of a declaration, not behind an array or a dictionary.
    private func inline(_ name: String) -> [String] {
        switch types.declarations[name]?.shape {
        case .object(let model): model.properties.filter { !$0.isBoxed }.compactMap { $0.type.declarationName }
        case .union(let model): model.isIndirect ? [] : model.variants.compactMap { $0.type.declarationName }
        case .enumeration, nil: []
        }
    }

    private func contains(_ name: String, within start: String, edges: [String: [String]]) -> Bool {
        var seen: Set<String> = []
        var rest = [start]
        while let next = rest.popLast() {
            if next == name { return true }
            if seen.insert(next).inserted { rest += edges[next] ?? [] }
        }
        return false
    }

    /// Ends the unions whose alternatives lead back to themselves, which would decode one value forever.
    mutating func endUnionCycles() {
        var open: Set<String> = []
        var finished: Set<String> = []
        for name in sortedNames { endUnionCycles(from: name, open: &open, finished: &finished) }
    }

    private func endUnionCycles(from name: String, open: inout Set<String>, finished: inout Set<String>) {
        guard case .union(var model) = types.declarations[name]?.shape, finished.insert(name).inserted else { return }
        open.insert(name)
        model.variants.removeAll { variant in
            guard let other = variant.type.declarationName else { return false }
            if open.contains(other) {
                let message = "the alternative leads back to `\(name)` without an object between; wrote no case for it."
                types.notes.add(variant.place, "recursion", message)
                return true
            }
            endUnionCycles(from: other, open: &open, finished: &finished)
            return false
        }
        if model.variants.isEmpty, let place = types.declarations[name]?.place {
            model.variants = [UnionModel.Variant(name: SwiftType.json.word, type: .json, place: place)]
        }
        open.remove(name)
        types.declarations[name]?.shape = .union(model)
    }

    /// Makes unions indirect and boxes properties, so that no value contains itself.
    mutating func breakCycles() {
        var edges = Dictionary(uniqueKeysWithValues: sortedNames.map { ($0, inline($0)) })
        for name in sortedNames {
            guard case .union(var model) = types.declarations[name]?.shape else { continue }
            guard inline(name).contains(where: { contains(name, within: $0, edges: edges) }) else { continue }
            model.isIndirect = true
            types.declarations[name]?.shape = .union(model)
            edges[name] = []
        }
        for name in sortedNames {
            guard case .object(var model) = types.declarations[name]?.shape else { continue }
            for (index, property) in model.properties.enumerated() {
                guard let other = property.type.declarationName, contains(name, within: other, edges: edges) else {
                    continue
                }
                model.properties[index].isBoxed = true
            }
            types.declarations[name]?.shape = .object(model)
            edges[name] = inline(name)
        }
    }

    // MARK: - Discriminators

    /// Finds the alternatives that don't encode the discriminator by themselves.
    mutating func findTagging() {
        for name in sortedNames {
            guard case .union(var model) = types.declarations[name]?.shape, let property = model.discriminator else {
                continue
            }
            for (index, variant) in model.variants.enumerated() {
                model.variants[index].tagging = tagging(of: variant, property: property)
            }
            types.declarations[name]?.shape = .union(model)
        }
        for name in sortedNames {
            guard case .union(let model) = types.declarations[name]?.shape, model.discriminator == nil else { continue }
            for other in model.variants.compactMap(\.type.declarationName) { markTriedUnion(other) }
        }
    }

    /// Lets a union that another one tries tell whether it knows a value.
    private func markTriedUnion(_ name: String) {
        guard case .union(var model) = types.declarations[name]?.shape, model.discriminator != nil else { return }
        model.needsIsOther = true
        types.declarations[name]?.shape = .union(model)
    }

    private func tagging(of variant: UnionModel.Variant, property: String) -> UnionModel.Tagging {
        switch variant.type.declarationName.flatMap({ types.declarations[$0]?.shape }) {
        case .object(let model):
            if let own = model.properties.first(where: { $0.wireName == property }) {
                return own.isOptional ? .unless("value." + own.name, isProperty: true) : .own
            }
            if model.additional != nil {
                let member = "value.\(model.additionalName)[\(Literal.string(property))]"
                return .unless(member, isProperty: false)
            }
            return .added
        case .union(let model): return model.discriminator == property || variant.tag == nil ? .own : .added
        case .enumeration, nil: return .own
        }
    }

    // MARK: - Errors

    /// Makes the types of documented errors conform to `Error`.
    mutating func markErrors() {
        for operation in apis.flatMap(\.operations) {
            for error in operation.mappedErrors { types.declarations[error.type]?.isError = true }
            for response in operation.responses.errors {
                guard let type = Self.undeclaredType(of: response) else { continue }
                let message = "an error of type `\(type)` is left in the response, and not in `appError`."
                types.notes.add(response.place, "error response", message)
            }
        }
    }
}

extension TypeGraph {
    /// The type of an error's body, if it's no declaration that can conform to `Error`.
    private static func undeclaredType(of response: Responses.Response) -> String? {
        switch response.content {
        case .none: nil
        case .json(let type, _): type.declarationName == nil && type != .json ? type.source : nil
        case .text: "String"
        case .data: "Data"
        }
    }
}

extension TypeBuilder {
    /// Declares the schemas that no operation uses, too.
    func buildComponents() {
        for (name, place) in (document.root["components"]?["schemas"]?.members ?? []).sorted(by: { $0.name < $1.name })
        {
            let name = SwiftName.type(name)
            _ = type(of: place, in: Context(name: name, group: name))
        }
    }
}

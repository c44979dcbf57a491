// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Writes the declarations of models.
struct DeclarationRenderer {
    let access: Access
    let types: TypeBuilder

    /// Whether a type is a union that keeps alternatives which aren't listed.
    private func isOpen(_ type: SwiftType) -> Bool {
        guard case .named(let name) = type, case .union(let model) = types.declarations[name]?.shape else {
            return false
        }
        return model.discriminator != nil
    }

    func render(_ declaration: Declaration, to writer: inout SourceWriter) {
        switch declaration.shape {
        case .object(let model): render(model, of: declaration, to: &writer)
        case .enumeration(let model): render(model, of: declaration, to: &writer)
        case .union(let model): render(model, of: declaration, to: &writer)
        }
    }

    func conformances(_ declaration: Declaration, _ names: String) -> String {
        names + (declaration.isError ? ", Error" : "")
    }

    // MARK: - Structs

    private func render(_ model: ObjectModel, of declaration: Declaration, to writer: inout SourceWriter) {
        writer.documentation(declaration.documentation ?? declaration.place.schemaSentence)
        let conformances = conformances(declaration, "Hashable, Codable, ResponseModel, RequestModel")
        writer.block("\(access.prefix)struct \(declaration.name): \(conformances)") { writer in
            for property in model.properties {
                writer.documentation(property.documentation)
                writer.line("\(access.prefix)var \(SwiftName.escaped(property.name)): \(property.source)")
            }
            if let additional = model.additional {
                writer.documentation("The other members.")
                let name = SwiftName.escaped(model.additionalName)
                let start = access.isPublic ? "" : " = [:]"
                writer.line("\(access.prefix)var \(name): [String: \(additional.source)]\(start)")
            }
            if let nulls = model.nullsName {
                writer.documentation("The properties that are sent as null if they have no value. Others are left out.")
                writer.line("\(access.prefix)var \(nulls): Set<NullableProperty> = []")
                writer.line()
                writer.documentation("The properties that can be null.")
                writer.block("\(access.prefix)enum NullableProperty: CodingKey") { writer in
                    let names = model.nullable.map { SwiftName.escaped($0.name) }
                    writer.line("case " + names.joined(separator: ", "))
                }
            }
            codingKeys(model, to: &writer)
            if access.isPublic { initializer(model, to: &writer) }
        }
        ObjectCoding(access: access, name: declaration.name, model: model).render(to: &writer)
    }

    private func codingKeys(_ model: ObjectModel, to writer: inout SourceWriter) {
        let coding = ObjectCoding(access: access, name: "", model: model)
        guard coding.isCustom || model.properties.contains(where: { $0.name != $0.wireName }) else { return }
        guard !model.properties.isEmpty else { return }
        writer.line()
        writer.block("private enum CodingKeys: String, CodingKey") { writer in
            for property in model.properties {
                let name = SwiftName.escaped(property.name)
                let isSame = property.name == property.wireName
                writer.expression("case ", .text(isSame ? name : "\(name) = \(Literal.string(property.wireName))"))
            }
        }
    }

    private func initializer(_ model: ObjectModel, to writer: inout SourceWriter) {
        if !model.properties.isEmpty { writer.line() }
        writer.documentation("Creates a value.")
        var parameters = model.properties.map { property in
            "\(SwiftName.escaped(property.name)): \(property.source)\(property.isOptional ? " = nil" : defaultValue(property))"
        }
        if let additional = model.additional {
            parameters.append("\(SwiftName.escaped(model.additionalName)): [String: \(additional.source)] = [:]")
        }
        if let nulls = model.nullsName { parameters.append("\(nulls): Set<NullableProperty> = []") }
        if parameters.isEmpty { return writer.line("public init() {}") }
        writer.list("public init(", parameters, ") {")
        writer.indented { writer in
            for property in model.properties {
                writer.line("self.\(property.name) = \(SwiftName.escaped(property.name))")
            }
            if model.additional != nil {
                writer.line("self.\(model.additionalName) = \(SwiftName.escaped(model.additionalName))")
            }
            if let nulls = model.nullsName { writer.line("self.\(nulls) = \(nulls)") }
        }
        writer.line("}")
    }

    private func defaultValue(_ property: ObjectModel.Property) -> String {
        switch (property.type, property.defaultValue) {
        case (.string, .string(let text)?) where text.count < 60: " = \(Literal.string(text))"
        case (.bool, .bool(let flag)?): " = \(flag)"
        case (.int, let value?), (.int64, let value?): value.int.map { " = \($0)" } ?? ""
        case (.int32, let value?): value.int.flatMap(Int32.init(exactly:)).map { " = \($0)" } ?? ""
        case (.double, let value?): value.double.flatMap { $0.isFinite ? " = \($0)" : nil } ?? ""
        default: ""
        }
    }

    // MARK: - Open enumerations

    private func render(_ model: EnumerationModel, of declaration: Declaration, to writer: inout SourceWriter) {
        let raw = model.rawType.source
        let documentation = declaration.documentation ?? "The values of \(declaration.place.schemaPhrase)."
        writer.documentation(documentation + "\n\nThe server may send values that aren't listed here.")
        let conformances = conformances(declaration, "RawRepresentable, Hashable, Codable, ResponseModel, RequestModel")
        writer.block("\(access.prefix)struct \(declaration.name): \(conformances)") { writer in
            writer.documentation("The value as it is sent.")
            writer.line("\(access.prefix)var rawValue: \(raw)")
            if access.isPublic {
                writer.line()
                writer.documentation("Creates a value, listed here or not.")
                writer.block("public init(rawValue: \(raw))") { $0.line("self.rawValue = rawValue") }
            }
            writer.line()
            for member in model.members {
                writer.documentation(member.documentation)
                let value = member.value.string.map(Literal.string) ?? member.value.scalarText ?? ""
                let call = Layout.call("Self", [.text("rawValue: " + value)])
                writer.expression("\(access.prefix)static let \(SwiftName.escaped(member.name)) = ", call)
            }
        }
    }

    // MARK: - Unions

    private func render(_ model: UnionModel, of declaration: Declaration, to writer: inout SourceWriter) {
        writer.documentation(declaration.documentation ?? "The alternatives of \(declaration.place.schemaPhrase).")
        let conformances = conformances(declaration, "Hashable, Codable, ResponseModel, RequestModel")
        let keyword = model.isIndirect ? "indirect enum" : "enum"
        writer.block("\(access.prefix)\(keyword) \(declaration.name): \(conformances)") { writer in
            for variant in model.variants {
                writer.line("case \(SwiftName.escaped(variant.name))(\(variant.type.source))")
            }
            if model.discriminator != nil {
                writer.documentation("An alternative that isn't listed here.")
                writer.line("case other(JSONValue)")
            }
            writer.line()
            if let property = model.discriminator {
                writer.block("private enum DiscriminatorKey: String, CodingKey") { writer in
                    writer.line("case value = \(Literal.string(property))")
                }
                writer.line()
                writer.documentation("Decodes the alternative that `\(property)` names.")
                taggedDecoding(model, to: &writer)
            } else {
                writer.documentation("Decodes the first alternative that the value matches.")
                trialDecoding(model, to: &writer)
            }
            writer.line()
            writer.documentation("Encodes the value of the alternative.")
            encoding(model, to: &writer)
        }
    }

    private func taggedDecoding(_ model: UnionModel, to writer: inout SourceWriter) {
        let untagged = model.untagged
        writer.block("\(access.prefix)init(from decoder: any Decoder) throws") { writer in
            writer.line("let container = try decoder.container(keyedBy: DiscriminatorKey.self)")
            let call = untagged.isEmpty ? "decode" : "decodeIfPresent"
            writer.line("switch try container.\(call)(String.self, forKey: .value) {")
            for choice in model.choices {
                self.choice(choice.tags.map(Literal.string).joined(separator: ", "), choice.variants, to: &writer)
            }
            if !untagged.isEmpty { self.choice("nil", untagged, to: &writer) }
            writer.line("default: self = .other(try JSONValue(from: decoder))")
            writer.line("}")
        }
        guard model.needsIsOther else { return }
        writer.line()
        writer.documentation("Whether the value is an alternative that isn't listed here.")
        writer.block("var isOther: Bool") { writer in
            writer.line("if case .other = self { true } else { false }")
        }
    }

    /// Writes the case of a discriminator's values. Of several alternatives, the first that decodes is chosen.
    private func choice(_ pattern: String, _ variants: [UnionModel.Variant], to writer: inout SourceWriter) {
        guard let last = variants.last else { return }
        let final = "self = .\(last.name)(try \(last.type.source)(from: decoder))"
        guard variants.count > 1 else { return writer.line("case \(pattern): \(final)") }
        writer.line("case \(pattern):")
        writer.indented { writer in
            for (index, variant) in variants.dropLast().enumerated() {
                let start = index == 0 ? "if" : "} else if"
                writer.line("\(start) let value = try? \(variant.type.source)(from: decoder) {")
                writer.indented { $0.line("self = .\(variant.name)(value)") }
            }
            writer.line("} else {")
            writer.indented { $0.line(final) }
            writer.line("}")
        }
    }

    private func trialDecoding(_ model: UnionModel, to writer: inout SourceWriter) {
        writer.block("\(access.prefix)init(from decoder: any Decoder) throws") { writer in
            writer.line("let container = try decoder.singleValueContainer()")
            // A union that keeps what it doesn't know is taken for its known alternatives before the others, and for the
            // rest after them.
            let open = model.variants.filter { isOpen($0.type) }
            for (index, variant) in (model.variants + open).enumerated() {
                let start = index == 0 ? "if" : "} else if"
                let isKnown = index < model.variants.count && isOpen(variant.type) ? ", !value.isOther" : ""
                writer.line("\(start) let value = try? container.decode(\(variant.type.source).self)\(isKnown) {")
                writer.indented { $0.line("self = .\(variant.name)(value)") }
            }
            writer.line("} else {")
            writer.indented { writer in
                writer.line("throw DecodingError.dataCorruptedError(")
                writer.indented { writer in
                    writer.line("in: container,")
                    writer.line("debugDescription: \"The value matches none of \(model.variants.count) alternatives.\"")
                }
                writer.line(")")
            }
            writer.line("}")
        }
    }

    private func encoding(_ model: UnionModel, to writer: inout SourceWriter) {
        writer.block("\(access.prefix)func encode(to encoder: any Encoder) throws") { writer in
            guard model.discriminator != nil else {
                writer.line("var container = encoder.singleValueContainer()")
                writer.line("switch self {")
                for variant in model.variants {
                    writer.line("case .\(variant.name)(let value): try container.encode(value)")
                }
                return writer.line("}")
            }
            writer.line("switch self {")
            for variant in model.variants { taggedEncoding(variant, to: &writer) }
            writer.line("case .other(let value): try value.encode(to: encoder)")
            writer.line("}")
        }
        guard model.variants.contains(where: { $0.tagging != .own && $0.tag != nil }) else { return }
        writer.line()
        writer.block("private static func encode(tag: String, to encoder: any Encoder) throws") { writer in
            writer.line("var container = encoder.container(keyedBy: DiscriminatorKey.self)")
            writer.line("try container.encode(tag, forKey: .value)")
        }
    }

    /// Writes the case of an alternative. A tag that is added is first, so that a union within it can have its own.
    private func taggedEncoding(_ variant: UnionModel.Variant, to writer: inout SourceWriter) {
        let value = "try value.encode(to: encoder)"
        guard let name = variant.tag, variant.tagging != .own else {
            return writer.line("case .\(variant.name)(let value): \(value)")
        }
        let tag = "try Self.encode(tag: \(Literal.string(name)), to: encoder)"
        switch variant.tagging {
        case .own: break
        case .added:
            writer.line("case .\(variant.name)(let value):")
            writer.indented { $0.lines(tag + "\n" + value) }
        case .unless(let property, _):
            writer.line("case .\(variant.name)(let value):")
            writer.indented { writer in
                writer.line(value)
                let flat = "if \(property) == nil { \(tag) }"
                if writer.fits(flat) { return writer.line(flat) }
                writer.block("if \(property) == nil") { $0.line(tag) }
            }
        }
    }
}

// SPDX-License-Identifier: MIT

/// The coding of a struct, as far as the compiler's own doesn't suffice.
struct ObjectCoding {
    let access: Access
    let name: String
    let model: ObjectModel

    /// Whether a property must be sent even if it is `nil`.
    private var sendsNull: Bool { model.properties.contains { $0.isRequired && $0.isNullable && !$0.isReadOnly } }

    var isCustom: Bool { model.additional != nil || model.nullsName != nil || sendsNull }

    func render(to writer: inout SourceWriter) {
        guard isCustom else { return }
        writer.line()
        writer.block("extension \(name)") { writer in
            if let additional = model.additional {
                decoding(additional, to: &writer)
                writer.line()
            }
            encoding(to: &writer)
        }
    }

    private func decoding(_ additional: SwiftType, to writer: inout SourceWriter) {
        writer.documentation("Decodes the properties, and the other members.")
        writer.block("\(access.prefix)init(from decoder: any Decoder) throws") { writer in
            if !model.properties.isEmpty {
                writer.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
            }
            for property in model.properties {
                let type = property.isBoxed ? "Indirect<\(property.type.source)>" : property.type.source
                let call = property.isOptional ? "decodeIfPresent" : "decode"
                let arguments: [Layout] = [.text("\(type).self"), .text("forKey: .\(property.name)")]
                writer.expression("\(property.name.selfPrefixed) = ", .call("try container.\(call)", arguments))
            }
            writer.line("let others = try decoder.container(keyedBy: AnyCodingKey.self)")
            writer.line("\(model.additionalName.selfPrefixed) = [:]")
            let known = "CodingKeys(stringValue: key.stringValue) == nil"
            let filter = model.properties.isEmpty ? "" : " where \(known)"
            writer.block("for key in others.allKeys\(filter)") { writer in
                let call = "others.decode(\(additional.source).self, forKey: key)"
                writer.line("\(model.additionalName.selfPrefixed)[key.stringValue] = try \(call)")
            }
        }
    }

    private func encoding(to writer: inout SourceWriter) {
        let what = model.additional == nil ? ", with null where it is meant." : ", and the other members."
        writer.documentation("Encodes the properties" + what)
        writer.block("\(access.prefix)func encode(to encoder: any Encoder) throws") { writer in
            if !model.properties.isEmpty {
                writer.line("var container = encoder.container(keyedBy: CodingKeys.self)")
            }
            for property in model.properties {
                let isSent =
                    !property.isOptional || (property.isRequired && property.isNullable && !property.isReadOnly)
                let call = isSent ? "encode" : "encodeIfPresent"
                let name = SwiftName.escaped(property.name)
                let value = ["container", "encoder", "others"].contains(name) ? "self." + name : name
                if let nulls = model.nullsName, model.nullable.contains(where: { $0.name == property.name }) {
                    let condition = "if \(value) == nil, \(nulls).contains(.\(property.name))"
                    writer.block(condition) { $0.line("try container.encodeNil(forKey: .\(property.name))") }
                }
                writer.line("try container.\(call)(\(value), forKey: .\(property.name))")
            }
            guard model.additional != nil else { return }
            writer.line("var others = encoder.container(keyedBy: AnyCodingKey.self)")
            writer.block("for (key, value) in \(model.additionalName.selfPrefixed)") { writer in
                writer.line("try others.encode(value, forKey: AnyCodingKey(stringValue: key))")
            }
        }
    }
}

extension String {
    fileprivate var selfPrefixed: String { "self." + self }
}

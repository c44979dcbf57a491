// SPDX-License-Identifier: MIT

/// Writes the struct with the fields of a multipart form.
struct FormRenderer {
    let access: Access
    let types: TypeBuilder
    let names: APINames
    let usesDates: Bool

    func render(_ model: FormModel, to writer: inout SourceWriter) {
        writer.documentation(model.documentation ?? "The fields of a form.")
        writer.block("\(access.prefix)struct \(model.name): Sendable, Hashable") { writer in
            for field in model.fields {
                writer.documentation(field.documentation)
                writer.line("\(access.prefix)nonisolated var \(SwiftName.escaped(field.name)): \(field.source)")
            }
            if !model.fields.isEmpty { writer.line() }
            if access.isPublic { initializer(model, to: &writer) }
            writer.documentation("The parts of the form.")
            writer.block("nonisolated var form: MultipartForm") { writer in
                if model.fields.isEmpty { return writer.line("[]") }
                writer.line("var parts: [MultipartForm.Part] = []")
                for field in model.fields { part(field, to: &writer) }
                writer.line("return MultipartForm(parts: parts)")
            }
        }
    }

    private func initializer(_ model: FormModel, to writer: inout SourceWriter) {
        writer.documentation("Creates a form.")
        let parameters = model.fields.map {
            "\(SwiftName.escaped($0.name)): \($0.source)\($0.isOptional ? " = nil" : "")"
        }
        if parameters.isEmpty {
            writer.line("public nonisolated init() {}")
        } else {
            writer.list("public nonisolated init(", parameters, ") {")
            writer.indented { writer in
                for field in model.fields { writer.line("self.\(field.name) = \(SwiftName.escaped(field.name))") }
            }
            writer.line("}")
        }
        writer.line()
    }

    private func part(_ field: FormModel.Field, to writer: inout SourceWriter) {
        let name = SwiftName.escaped(field.name)
        let path = ["parts", "form"].contains(field.name) ? "self.\(field.name)" : name
        switch (field.isList, field.isOptional) {
        case (false, false): writer.expression("parts.append(", call(field, path), ")")
        case (false, true):
            writer.block("if let value = \(path)") { $0.expression("parts.append(", call(field, "value"), ")") }
        case (true, let isOptional):
            let list = isOptional ? "\(path) ?? []" : path
            writer.block("for value in \(list)") { $0.expression("parts.append(", call(field, "value"), ")") }
        }
    }

    private func call(_ field: FormModel.Field, _ value: String) -> Layout {
        let name = Literal.string(field.wireName)
        let type = field.contentType.map { Layout.text("mimeType: \(Literal.string($0))") }
        switch field.content {
        case .file:
            return .call("\(value).part", [.text("named: \(name)"), type].compactMap { $0 })
        case .text:
            let text = ParameterText.expression(value, type: field.type, types: types) ?? value
            return .call(".text", [.text(text), .text("name: \(name)"), type].compactMap { $0 })
        case .json:
            let encoder = usesDates ? Layout.text("encoder: .\(names.coders)") : nil
            let arguments = [.text(value), .text("name: \(name)"), type, encoder].compactMap { $0 }
            return .call(".json", arguments)
        }
    }
}

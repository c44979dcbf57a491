// SPDX-License-Identifier: MIT
import OpenAPIDocument

extension OperationBuilder {
    /// The body of an operation's request: of several media types the one that a target writes best.
    func body(of found: Found, in context: TypeBuilder.Context, labels: inout NameTable) -> Body? {
        guard let given = found.place["requestBody"] else { return nil }
        guard let place = try? document.resolved(given) else {
            notes.add(given, "$ref", "the body's reference can't be resolved; wrote no body.")
            return nil
        }
        let contents = place["content"]?.members ?? []
        guard let chosen = MediaType.preferred(of: contents, [MediaType.isForm, MediaType.isMultipart]) else {
            notes.add(place, "requestBody", "the body has no media type; wrote no body.")
            return nil
        }
        noteOthers(contents.map(\.name), chosen: chosen.name, at: place)
        let kind = kind(of: chosen, in: context)
        return Body(
            kind: kind,
            contentType: chosen.name == "*/*" ? "application/json" : chosen.name,
            isRequired: place.flag("required"),
            label: labels.claim("body", alternative: "requestBody"),
            place: place,
            documentation: place.string("description")
        )
    }

    private func noteOthers(_ names: [String], chosen: String, at place: Place) {
        let others = names.filter { $0 != chosen }
        guard !others.isEmpty else { return }
        let list = others.map { "`\($0)`" }.joined(separator: ", ")
        let streaming = others.lazy.compactMap(MediaType.streamingCall).first
        let remedy = streaming.map { " For a response of that type, call `provider.stream(_:)`, and read its `\($0)`." }
        notes.add(place, "other media types", "wrote `\(chosen)` and not \(list)." + (remedy ?? ""))
    }

    /// Notes a response whose schema isn't decoded, with the call that reads it.
    private func noteUndecoded(_ chosen: (name: String, place: Place), as content: Responses.Content) {
        let type = if case .text = content { "text" } else { "`Data`" }
        if let call = MediaType.streamingCall(chosen.name) {
            let message =
                "wrote \(type) for the whole body; to read it as it comes, use `provider.stream(_:)` and `\(call)`."
            return notes.add(chosen.place, "stream", message)
        }
        guard let schema = chosen.place["schema"] else { return }
        if isStructured(schema) {
            notes.add(chosen.place, "response media type", "`\(chosen.name)` is not decoded; wrote \(type).")
        } else if isBase64(schema) {
            notes.add(chosen.place, "response media type", "the Base64 text is not decoded; wrote \(type).")
        }
    }

    private func kind(of content: (name: String, place: Place), in context: TypeBuilder.Context) -> Body.Kind {
        let schema = content.place["schema"]
        let inner = context.inside("Body")
        if MediaType.isJSON(content.name) {
            let type = schema.map { types.type(of: $0, in: inner) } ?? .json
            if type.unwrapped == .data, let schema, StringFormat.isBinary(Schema(types.resolved(schema) ?? schema)) {
                return .data(isBase64: false)
            }
            return .json(type, schema: schema)
        }
        if MediaType.isForm(content.name) {
            noteEncodings(of: content.place, ignored: ["style", "explode", "allowReserved"])
            return .form(schema.map { types.type(of: $0, in: inner) } ?? .dictionary(.string), schema: schema)
        }
        if MediaType.isMultipart(content.name) { return .multipart(form(content.place, in: context)) }
        let isText = MediaType.isText(content.name)
        if let schema, isStructured(schema) {
            let message = "`\(content.name)` is not written from a value; wrote `\(isText ? "String" : "Data")`."
            notes.add(content.place, "media type", message)
        }
        let isBase64 = schema.map(isBase64) ?? false
        return isText && !isBase64 ? .text : .data(isBase64: isBase64)
    }

    /// Whether a schema has values that neither text nor bytes express.
    private func isStructured(_ place: Place) -> Bool {
        guard let target = types.resolved(place) else { return false }
        let schema = Schema(target)
        if schema.kinds.contains(.object) || schema.kinds.contains(.array) { return true }
        return !schema.properties.isEmpty || schema.items != nil
            || !(schema.allOf + schema.oneOf + schema.anyOf).isEmpty
    }

    private func form(_ content: Place, in context: TypeBuilder.Context) -> FormModel {
        let name = types.names.claim(context.name + "Form")
        guard let schema = content["schema"], let target = types.resolved(schema) else {
            return FormModel(name: name, documentation: nil, fields: [])
        }
        let parts = MergedSchema(target, builder: types)
        noteEncodings(of: content, ignored: ["headers", "style", "explode", "allowReserved"])
        if parts.properties.isEmpty {
            notes.add(target, "multipart", "the form has no fields; wrote one without fields.")
        }
        for other in parts.alternatives {
            notes.add(other.place, "multipart", "alternatives in a form; wrote the common fields only.")
        }
        var names = NameTable(reserved: ["form"])
        let fields = parts.properties.map { name, place in
            field(
                name,
                place,
                parts: parts,
                encoding: content["encoding"]?[name],
                name: names.claim(SwiftName.declarable(SwiftName.member(name))),
                in: context
            )
        }
        return FormModel(name: name, documentation: Schema(target).summary, fields: fields)
    }

    /// Notes what the encoding of a form's fields says beyond what is written.
    private func noteEncodings(of content: Place, ignored: Set<String>) {
        for (_, place) in content["encoding"]?.members ?? [] {
            for (name, place) in place.members where ignored.contains(name) {
                notes.add(
                    place,
                    "encoding",
                    "`\(name)` of a form's field is not expressed; wrote the field without it."
                )
            }
        }
    }

    private func field(
        _ wireName: String,
        _ place: Place,
        parts: MergedSchema,
        encoding: Place?,
        name: String,
        in context: TypeBuilder.Context
    ) -> FormModel.Field {
        let type = types.type(of: place, in: context.inside(wireName))
        var element = type.unwrapped
        var isList = false
        if case .array(let inner) = element { (element, isList) = (inner.unwrapped, true) }
        let content: FormModel.Field.Content
        if element == .data, !isBase64(place) {
            content = .file
        } else {
            content = ParameterText.expression("value", type: element, types: types) == nil ? .json : .text
        }
        return FormModel.Field(
            wireName: wireName,
            name: name,
            type: element,
            content: content,
            isList: isList,
            isOptional: !parts.required.contains(wireName) || type.isOptional,
            contentType: encoding?.string("contentType").flatMap { $0.contains(",") || $0.contains("*") ? nil : $0 },
            documentation: Schema(types.resolved(place) ?? place).summary,
            place: place
        )
    }

    private func isBase64(_ place: Place) -> Bool {
        guard let target = types.resolved(place) else { return false }
        if let items = Schema(target).items { return isBase64(items) }
        return StringFormat.isBase64(Schema(target))
    }
}

// MARK: - Responses

extension OperationBuilder {
    /// A word for a status, for the name of its type.
    private static func word(for status: String) -> String {
        let words = [
            "201": "Created", "202": "Accepted", "204": "NoContent", "206": "Partial", "400": "BadRequest",
            "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "409": "Conflict", "422": "Unprocessable",
            "429": "TooManyRequests", "500": "ServerError", "503": "Unavailable", "default": "Default",
        ]
        return words[status] ?? "Status" + status.uppercased()
    }

    /// The responses by status, sorted.
    func responses(of found: Found, in context: TypeBuilder.Context) -> Responses {
        var responses = Responses()
        let members = (found.place["responses"]?.members ?? []).filter { !$0.name.hasPrefix("x-") }
        let hasSuccess = members.contains { $0.name.hasPrefix("2") }
        for (status, given) in members.sorted(by: { $0.name < $1.name }) {
            guard let place = try? document.resolved(given) else {
                notes.add(given, "$ref", "the response's reference can't be resolved; wrote nothing for it.")
                continue
            }
            let isSuccess = status.hasPrefix("2") || (!hasSuccess && status == "default")
            guard isSuccess || status.hasPrefix("4") || status.hasPrefix("5") || status == "default" else {
                noteOtherStatus(status, at: given)
                continue
            }
            noteFields(of: place, status: status)
            let suffix = isSuccess && status.hasPrefix("200") ? "Response" : Self.word(for: status) + "Response"
            let hasBody = found.method != "head"
            let response = response(place, status: status, hasBody: hasBody, in: context.inside(suffix))
            if isSuccess {
                responses.successes.append(response)
            } else {
                responses.errors.append(response)
            }
        }
        if responses.hasSeveralValues { responses.resultName = types.names.claim(context.name + "Result") }
        return responses
    }

    /// Notes a response that is neither a success nor an error.
    private func noteOtherStatus(_ status: String, at place: Place) {
        switch status.first {
        case "3":
            notes.add(
                place,
                "3xx response",
                "a redirect is followed, or is left in the response; wrote no value for it."
            )
        case "1": notes.add(place, "1xx response", "an interim response is not delivered; wrote no value for it.")
        default: notes.add(place, "response", "“\(status)” is no status; wrote no value for it.")
        }
    }

    /// Notes the parts of a response that its type doesn't have.
    private func noteFields(of place: Place, status: String) {
        for (name, place) in place["headers"]?.members ?? [] where name.lowercased() != "content-type" {
            notes.add(
                place,
                "response header",
                "a header field isn't a part of the value; read `response.headers[\(Literal.string(name))]`."
            )
        }
        for (name, place) in place["links"]?.members ?? [] {
            notes.add(place, "links", "the link “\(name)” names another operation; wrote nothing for it.")
        }
    }

    private func response(
        _ place: Place,
        status: String,
        hasBody: Bool,
        in context: TypeBuilder.Context
    ) -> Responses.Response {
        // A response to HEAD describes the body that GET would have (RFC 9110 §9.3.2).
        let contents = hasBody ? place["content"]?.members ?? [] : []
        let chosen = MediaType.preferred(of: contents)
        if let chosen { noteOthers(contents.map(\.name), chosen: chosen.name, at: place) }
        var content = Responses.Content.none
        if let chosen {
            let schema = chosen.place["schema"]
            if MediaType.isJSON(chosen.name) {
                let type = schema.map { types.type(of: $0, in: context) } ?? .json
                let isFile =
                    type.unwrapped == .data
                    && schema.map { StringFormat.isBinary(Schema(types.resolved($0) ?? $0)) } == true
                content = isFile ? .data : .json(type, schema: schema)
            } else {
                content = MediaType.isText(chosen.name) ? .text : .data
                noteUndecoded(chosen, as: content)
            }
        }
        return Responses.Response(
            status: status,
            content: content,
            contentType: chosen?.name,
            place: place,
            documentation: place.string("description")
        )
    }
}

extension Responses {
    /// Whether successes have values of different types.
    fileprivate var hasSeveralValues: Bool {
        guard successes.count > 1, output == nil else { return false }
        return successes.contains { response in
            if case .json = response.content { true } else { false }
        }
    }
}

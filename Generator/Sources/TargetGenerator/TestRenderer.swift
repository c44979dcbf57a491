// SPDX-License-Identifier: MIT
import Foundation
import OpenAPIDocument

/// Writes a test for each operation: its request and its sample match the document.
struct TestRenderer {
    let document: String
    let options: GenerationOptions
    let types: TypeBuilder
    let names: APINames
    let usesDates: Bool

    private var maker: SampleMaker { SampleMaker(types: types, direction: .request) }

    func files(of apis: [API]) -> [SourceFile] {
        apis.map(file) + [support]
    }

    private func file(of api: API) -> SourceFile {
        let imports = ["Foundation", "TargetKit", "Testing"]
        return SourceWriter.file(api.name + "Tests.swift", from: document, imports: imports) { writer in
            writer.line("@testable import \(options.module)")
            writer.line()
            writer.line("@Suite(\(Literal.string("\(api.name) matches \(document)")))")
            writer.block("struct \(api.name)Tests") { writer in
                for (index, operation) in api.operations.enumerated() {
                    if index > 0 { writer.line() }
                    test(of: operation, api: api, to: &writer)
                }
            }
        }
    }

    private func test(of operation: Operation, api: API, to writer: inout SourceWriter) {
        let title = "\(operation.name) sends \(operation.method.uppercased()) \(operation.path)"
        if operation.isDeprecated { writer.line("@available(*, deprecated)") }
        writer.expression("@Test(", .text(Literal.string(title)), ")")
        writer.block("func \(SwiftName.escaped(operation.name))() throws") { writer in
            let type = options.style == .routed ? "\(api.name).\(operation.name)" : operation.typeName
            writer.expression("let target = ", target(operation, type: type))
            var arguments = [
                Layout.text("target"), .text(".\(operation.method)"), .text(Literal.string(path(operation))),
            ]
            let query = requiredQuery(operation)
            if !query.isEmpty {
                arguments.append(.text("query: [\(query.map(Literal.string).joined(separator: ", "))]"))
            }
            let headers = operation.parameters.filter { $0.location == .header && $0.isRequired }.map(\.wireName)
            if !headers.isEmpty {
                arguments.append(.text("headers: [\(headers.map(Literal.string).joined(separator: ", "))]"))
            }
            writer.expression("try ", .call("expectRequest", [.text("of: target")] + arguments.dropFirst()))
            if let type = SampleRenderer(access: Access(isPublic: false), types: types).sample(of: operation).type {
                writer.expression(
                    "try ",
                    .call("expectSample", [.text("of: target"), .text("decodes: \(type.metatype)")])
                )
            }
        }
    }

    // MARK: - Targets

    private func target(_ operation: Operation, type: String) -> Layout {
        let values = operation.values.filter { !$0.isOptional }
        if values.isEmpty {
            let isPlainCase = options.style == .routed && operation.values.isEmpty
            return .text(isPlainCase ? type : type + "()")
        }
        let isUnlabelled = operation.parameters.isEmpty && options.style == .routed
        let arguments = values.map { value -> Layout in
            let label = isUnlabelled ? "" : SwiftName.label(value.label) + ": "
            if let parameter = operation.parameters.first(where: { $0.label == value.label }) {
                return .text(label + expression(sample(of: parameter), as: parameter.type))
            }
            return body(operation.body, label: label)
        }
        return .call(needsTry(operation) ? "try \(type)" : type, arguments)
    }

    private func needsTry(_ operation: Operation) -> Bool {
        let values = operation.parameters.filter(\.isRequired).contains { !isLiteral($0.type) }
        guard let body = operation.body, body.isRequired else { return values }
        switch body.kind {
        case .json, .form: return true
        case .multipart(let form):
            return values || form.fields.contains { !$0.isOptional && $0.content != .file && !isLiteral($0.type) }
        case .text, .data: return values
        }
    }

    private func body(_ body: Body?, label: String) -> Layout {
        guard let body else { return .text(label + "nil") }
        let content = body.place["content"]?[body.contentType]
        switch body.kind {
        case .json(let type, let schema), .form(let type, let schema):
            let value = maker.value(of: type.unwrapped, at: content, schema: schema)
            return .call(label + "value", [.text(JSONText.literal(JSONText.compact(value)))])
        case .multipart(let form): return .call(label + form.name, form.fields.filter { !$0.isOptional }.map(field))
        case .text: return .text(label + "\"text\"")
        case .data: return .text(label + "Data(\"data\".utf8)")
        }
    }

    private func field(_ field: FormModel.Field) -> Layout {
        var text = ".data(Data(\"data\".utf8), fileName: \"file.bin\")"
        if field.content != .file {
            let schema = field.isList ? types.resolved(field.place).flatMap { Schema($0).items } : field.place
            text = expression(maker.value(of: field.type, at: nil, schema: schema), as: field.type)
        }
        return .text("\(SwiftName.label(field.name)): \(field.isList ? "[\(text)]" : text)")
    }

    private func sample(of parameter: Parameter) -> Node {
        let value = maker.value(of: parameter.type, at: parameter.place, schema: parameter.schema)
        guard parameter.location == .path, !parameter.isJSON else { return value }
        // An empty segment would name another path, and a date can be written in several forms.
        if value.scalarText?.isEmpty ?? false { return .string("text") }
        return parameter.type == .date ? ScalarSample.value(of: .date, schema: nil) : value
    }

    private func isLiteral(_ type: SwiftType) -> Bool {
        switch type {
        case .string, .bool, .int, .int32, .int64, .uint, .uint32, .uint64, .double, .float: true
        default: false
        }
    }

    private func expression(_ value: Node, as type: SwiftType) -> String {
        if isLiteral(type) { return value.string.map(Literal.string) ?? value.scalarText ?? "nil" }
        return "value(\(JSONText.literal(JSONText.compact(value))))"
    }

    // MARK: - Expectations

    private func requiredQuery(_ operation: Operation) -> [String] {
        operation.parameters.filter { parameter in
            guard parameter.location == .query, parameter.isRequired else { return false }
            return ParameterText.isPlain(parameter.type, types: types) || parameter.isJSON
        }
        .map(\.wireName)
    }

    /// The path as it is sent, with the samples of its parameters.
    private func path(_ operation: Operation) -> String {
        PathTemplate(operation.path).parts.map { part in
            switch part {
            case .text(let text): return text
            case .parameter(let name):
                let found = operation.parameters.first { $0.location == .path && $0.wireName == name }
                guard let parameter = found else { return "" }
                let value = sample(of: parameter)
                return pathText(parameter, value)
            }
        }
        .joined()
    }

    private func pathText(_ parameter: Parameter, _ value: Node) -> String {
        let name = parameter.wireName
        if parameter.isJSON { return JSONText.compact(value.sorted) }
        if let members = value.object?.pairs.sorted(by: { $0.0 < $1.0 }) {
            let explodes = parameter.explodes
            let pairs = members.map { $0 + (explodes ? "=" : ",") + ($1.scalarText ?? "") }
            switch parameter.style {
            case "label": return "." + pairs.joined(separator: explodes ? "." : ",")
            case "matrix": return ";" + (explodes ? "" : name + "=") + pairs.joined(separator: explodes ? ";" : ",")
            default: return pairs.joined(separator: ",")
            }
        }
        let isUUID = [SwiftType.uuid, .array(.uuid)].contains(parameter.type)
        let texts = (value.array ?? [value]).compactMap(\.scalarText).map { isUUID ? $0.uppercased() : $0 }
        switch parameter.style {
        case "label": return "." + texts.joined(separator: parameter.explodes ? "." : ",")
        case "matrix": return ";\(name)=" + texts.joined(separator: parameter.explodes ? ";\(name)=" : ",")
        default: return texts.joined(separator: ",")
        }
    }

    private var support: SourceFile {
        let decoder = usesDates ? "JSONDecoder.\(names.coders)" : "JSONDecoder()"
        let source = """
            /// Decodes a value of the document's sample.
            func value<Value: Decodable>(_ json: String) throws -> Value {
                try \(decoder).decode(Value.self, from: Data(json.utf8))
            }

            /// Expects that a target's request is the one that the document describes.
            func expectRequest(
                of target: some TargetType,
                _ method: HTTPMethod,
                _ path: String,
                query: Set<String> = [],
                headers: [String] = [],
                at location: SourceLocation = #_sourceLocation
            ) throws {
                let request = try Endpoint(target: target).urlRequest()
                #expect(request.httpMethod == method.rawValue, sourceLocation: location)
                let url = try #require(request.url, sourceLocation: location)
                let sent = URLComponents(url: url, resolvingAgainstBaseURL: true)
                let path = path.split(separator: "?", omittingEmptySubsequences: false)[0]
                #expect(sent?.path.hasSuffix(path) == true, "\\(sent?.path ?? "") ends in \\(path)", sourceLocation: location)
                let names = Set(sent?.queryItems?.map(\\.name) ?? [])
                #expect(query.isSubset(of: names), sourceLocation: location)
                for name in headers {
                    #expect(request.value(forHTTPHeaderField: name) != nil, "\\(name)", sourceLocation: location)
                }
            }

            /// Expects that a target's sample is a success and decodes into a type.
            func expectSample<Value: Decodable>(
                of target: some TargetType,
                decodes type: Value.Type,
                at location: SourceLocation = #_sourceLocation
            ) throws {
                guard case .response(let status, _, let data) = target.sampleResponse else {
                    Issue.record("The sample is no response.", sourceLocation: location)
                    return
                }
                #expect(target.validation.accepts(status), sourceLocation: location)
                let decoder = target.options.decoder ?? JSONDecoder()
                #expect(throws: Never.self, sourceLocation: location) { try decoder.decode(type, from: data) }
            }
            """
        return SourceWriter.file("Expectations.swift", from: document, imports: ["Foundation", "TargetKit", "Testing"])
        {
            $0.line("@testable import \(options.module)")
            $0.line()
            $0.lines(source)
        }
    }
}

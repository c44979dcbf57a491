// SPDX-License-Identifier: MIT

/// Writes each operation as a struct that knows its output.
struct TypedRenderer {
    let routed: APIRenderer
    var access: Access { routed.access }

    func render(_ operation: Operation, to writer: inout SourceWriter) {
        let layout = routed.layout(operation)
        writer.documentation(OperationText.documentation(operation))
        let output = operation.responses.output
        let errors = operation.mappedErrors
        let conformances =
            [
                "RoutedTarget", output == nil ? nil : "TypedTarget", "EnvironmentTarget",
                errors.isEmpty ? nil : "ErrorMappingTarget",
            ]
            .compactMap { $0 }.joined(separator: ", ")
        if operation.isDeprecated { writer.line("@available(*, deprecated)") }
        writer.block("\(access.prefix)struct \(operation.typeName): \(conformances)") { writer in
            if let output {
                writer.documentation("The value of the response.")
                writer.line("\(access.prefix)typealias Output = \(output.source)")
                writer.line()
            }
            properties(operation, to: &writer)
            routed.environments(to: &writer)
            if let server = operation.server {
                writer.documentation("The URL of the operation's server.")
                let environment =
                    "ServerEnvironment(\(Literal.string(operation.name)), baseURL: \(Literal.string(server)))"
                writer.block("\(access.prefix)var baseURL: URL") { $0.line("\(environment).baseURL") }
            }
            writer.documentation("The method, path and task of the call.")
            writer.block("\(access.prefix)var route: Route") { $0.expression("", layout.route) }
            headers(operation, to: &writer)
            if let source = routed.optionsSource(operation.credentials) {
                writer.documentation("The options of the call.")
                writer.property("\(access.prefix)var options: CallOptions", source)
            }
            if !errors.isEmpty { self.errors(errors, to: &writer) }
        }
    }

    private func properties(_ operation: Operation, to writer: inout SourceWriter) {
        for parameter in operation.values {
            let documentation = operation.parameters.first { $0.label == parameter.label }?.documentation
            writer.documentation(documentation)
            let type = parameter.type + (parameter.isOptional ? "?" : "")
            writer.line("\(access.prefix)var \(SwiftName.escaped(parameter.label)): \(type)")
        }
        guard access.isPublic else { return writer.line() }
        writer.line()
        writer.documentation("Creates a call.")
        let values = operation.values
        if values.isEmpty {
            writer.line("public init() {}")
        } else {
            let parameters = values.map {
                "\(SwiftName.escaped($0.label)): \($0.type)\($0.isOptional ? "? = nil" : "")"
            }
            writer.list("public init(", parameters, ") {")
            writer.indented { writer in
                for value in values { writer.line("self.\(value.label) = \(SwiftName.escaped(value.label))") }
            }
            writer.line("}")
        }
        writer.line()
    }

    private func headers(_ operation: Operation, to writer: inout SourceWriter) {
        let layout = HeaderLayout(operation: operation, types: routed.types)
        guard !layout.isEmpty else { return }
        writer.documentation("The header fields of the call.")
        writer.block("\(access.prefix)var headers: HTTPHeaders") { layout.render(to: &$0) }
    }

    private func errors(_ errors: [MappedError], to writer: inout SourceWriter) {
        writer.documentation("Decodes the errors that the API documents.")
        writer.block("\(access.prefix)func appError(for response: Response) -> (any Error)?") { writer in
            writer.line("guard !validation.accepts(response.statusCode) else { return nil }")
            ErrorLayout.render(errors, returns: false, to: &writer)
        }
    }
}

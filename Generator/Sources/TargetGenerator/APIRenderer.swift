// SPDX-License-Identifier: MIT

/// Writes the operations of a tag as an enum with one `switch`.
struct APIRenderer {
    let access: Access
    let types: TypeBuilder
    let names: APINames
    let usesDates: Bool

    func render(_ api: API, to writer: inout SourceWriter) {
        let description = api.documentation ?? api.tag.map { "The operations with the tag “\($0)”." }
        writer.documentation(description ?? "The operations of the API.")
        let mapsErrors = api.operations.contains { !$0.mappedErrors.isEmpty }
        let conformances = "RoutedTarget, EnvironmentTarget" + (mapsErrors ? ", ErrorMappingTarget" : "")
        writer.block("\(access.prefix)enum \(api.name): \(conformances)") { writer in
            for operation in api.operations { caseDeclaration(operation, to: &writer) }
            writer.line()
            environments(to: &writer)
            servers(api.operations, to: &writer)
            writer.line()
            route(api.operations, to: &writer)
            headers(api.operations, to: &writer)
            options(api.operations, to: &writer)
            if mapsErrors { errors(api.operations, to: &writer) }
        }
    }

    private func caseDeclaration(_ operation: Operation, to writer: inout SourceWriter) {
        writer.documentation(OperationText.documentation(operation))
        if operation.isDeprecated { writer.line("@available(*, deprecated)") }
        let values = operation.associatedValues
        guard !values.isEmpty else { return writer.line("case \(SwiftName.escaped(operation.name))") }
        writer.list("case \(SwiftName.escaped(operation.name))(", values, ")")
    }

    func environments(to writer: inout SourceWriter) {
        writer.documentation("The servers of the API.")
        writer.line("\(access.prefix)static var environments: EnvironmentStore { \(names.servers).store }")
    }

    private func servers(_ operations: [Operation], to writer: inout SourceWriter) {
        let own = operations.filter { $0.server != nil }
        guard !own.isEmpty else { return }
        writer.line()
        writer.documentation("The URL of the operation's server.")
        writer.block("\(access.prefix)var baseURL: URL") { writer in
            writer.line("switch self {")
            for (server, operations) in own.grouped(by: \.server) {
                Self.cases(operations, to: &writer)
                let name = Literal.string(operations[0].name)
                writer.indented {
                    $0.line("ServerEnvironment(\(name), baseURL: \(Literal.string(server ?? ""))).baseURL")
                }
            }
            if own.count < operations.count { writer.line("default: Self.environments.current.url(of: module)") }
            writer.line("}")
        }
    }

    /// Writes `case .a, .b:`, and one name a line if it's long.
    static func cases(_ operations: [Operation], to writer: inout SourceWriter) {
        let names = operations.map { "." + $0.name }
        let flat = "case \(names.joined(separator: ", ")):"
        if writer.fits(flat) { return writer.line(flat) }
        writer.line("case \(names[0]),")
        writer.indented { writer in
            for (index, name) in names.dropFirst().enumerated() {
                writer.line(name + (index == names.count - 2 ? ":" : ","))
            }
        }
    }

    // MARK: - Requests

    private func route(_ operations: [Operation], to writer: inout SourceWriter) {
        writer.documentation("The method, path and task of the call.")
        writer.block("\(access.prefix)var route: Route") { writer in
            writer.line("switch self {")
            for operation in operations {
                let layout = layout(operation)
                let pattern = operation.pattern(binding: layout.usedLabels)
                let flat = "\(pattern) \(layout.route.flat)"
                if writer.fits(flat) {
                    writer.line(flat)
                } else {
                    self.pattern(operation, binding: layout.usedLabels, to: &writer)
                    writer.indented { $0.expression("", layout.route) }
                }
            }
            writer.line("}")
        }
    }

    private func pattern(_ operation: Operation, binding labels: Set<String>, to writer: inout SourceWriter) {
        let flat = operation.pattern(binding: labels)
        if writer.fits(flat) { return writer.line(flat) }
        writer.list("case .\(operation.name)(", operation.bindings(labels), "):")
    }

    func layout(_ operation: Operation) -> TaskLayout {
        TaskLayout(operation: operation, types: types, coders: names.coders, usesDates: usesDates)
    }

    private func headers(_ operations: [Operation], to writer: inout SourceWriter) {
        let layouts = operations.map { HeaderLayout(operation: $0, types: types) }.filter { !$0.isEmpty }
        guard !layouts.isEmpty else { return }
        writer.line()
        writer.documentation("The header fields of the call.")
        writer.block("\(access.prefix)var headers: HTTPHeaders") { writer in
            writer.line("switch self {")
            for layout in layouts {
                pattern(layout.operation, binding: layout.usedLabels, to: &writer)
                writer.indented { layout.render(to: &$0) }
            }
            if layouts.count < operations.count {
                writer.line("default:")
                writer.indented { $0.line("return [:]") }
            }
            writer.line("}")
        }
    }

    // MARK: - Options

    private func options(_ operations: [Operation], to writer: inout SourceWriter) {
        let groups = operations.grouped(by: \.credentials)
        if groups.count == 1, let source = optionsSource(groups[0].key) {
            writer.line()
            writer.documentation("The options of the call.")
            writer.property("\(access.prefix)var options: CallOptions", source)
        } else if groups.count > 1 {
            writer.line()
            writer.documentation("The options of the call.")
            writer.block("\(access.prefix)var options: CallOptions") { writer in
                writer.line("switch self {")
                for group in groups {
                    Self.cases(group.elements, to: &writer)
                    writer.indented { $0.line(optionsSource(group.key) ?? "CallOptions()") }
                }
                writer.line("}")
            }
        }
    }

    func optionsSource(_ credentials: Security.Credentials) -> String? {
        var settings = usesDates ? [".setting(\\.decoder, .\(names.coders))"] : []
        if let scheme = credentials.authorization.source { settings.append(".setting(\\.authorization, \(scheme))") }
        if !credentials.keys.isEmpty {
            let keys = credentials.keys.map { "." + $0.name }.joined(separator: ", ")
            settings.append(".setting(\\.\(names.keys), [\(keys)])")
        }
        return settings.isEmpty ? nil : "CallOptions" + settings.joined()
    }

    // MARK: - Errors

    private func errors(_ operations: [Operation], to writer: inout SourceWriter) {
        writer.line()
        writer.documentation("Decodes the errors that the API documents.")
        writer.block("\(access.prefix)func appError(for response: Response) -> (any Error)?") { writer in
            writer.line("guard !validation.accepts(response.statusCode) else { return nil }")
            let mapped = operations.filter { !$0.mappedErrors.isEmpty }
            let groups = mapped.grouped { $0.mappedErrors.map { "\($0.pattern) \($0.type)" } }
            if groups.count == 1, mapped.count == operations.count {
                return ErrorLayout.render(mapped[0].mappedErrors, returns: false, to: &writer)
            }
            writer.line("switch self {")
            for group in groups {
                Self.cases(group.elements, to: &writer)
                writer.indented { ErrorLayout.render(group.elements[0].mappedErrors, returns: true, to: &$0) }
            }
            if mapped.count < operations.count {
                writer.line("default:")
                writer.indented { $0.line("return nil") }
            }
            writer.line("}")
        }
    }
}

/// The decoding of an operation's errors by status.
enum ErrorLayout {
    static func render(_ errors: [MappedError], returns: Bool, to writer: inout SourceWriter) {
        if errors.count == 1, errors[0].pattern == "default" {
            return writer.line("return try? response.decode(\(errors[0].type).self)")
        }
        writer.line("switch response.statusCode {")
        for error in errors {
            let pattern = error.pattern == "default" ? "default" : "case \(error.pattern)"
            writer.line("\(pattern): return try? response.decode(\(error.type).self)")
        }
        if errors.last?.pattern != "default" { writer.line("default: return nil") }
        writer.line("}")
    }
}

/// An error that a status means.
struct MappedError: Hashable {
    let pattern: String
    let type: String
}

/// The names that the files of an API share.
struct APINames {
    let module: String
    let servers: String
    let coders: String
    /// The type of the keys that aren't in `Authorization`.
    let key: String
    /// The option with the keys of a call.
    let keys: String

    init(module: String, names: inout NameTable) {
        self.module = module
        servers = names.claim(SwiftName.type(module) + "Servers")
        key = names.claim(SwiftName.type(module) + "Key")
        _ = names.claim(key + "Plugin")
        keys = SwiftName.member(key) + "s"
        coders = SwiftName.escaped(SwiftName.declarable(SwiftName.member(module)))
    }
}

extension Sequence {
    /// The elements by key, in the order of the first of each.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var positions: [Key: Int] = [:]
        var groups: [(key: Key, elements: [Element])] = []
        for element in self {
            let key = key(element)
            if let position = positions[key] {
                groups[position].elements.append(element)
            } else {
                positions[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}

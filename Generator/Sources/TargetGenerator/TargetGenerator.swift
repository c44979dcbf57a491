// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Writes the targets, models, samples and tests of a document.
package struct TargetGenerator {
    /// What a run wrote and left out.
    package struct Output: Sendable {
        /// The files of the module, sorted by path.
        package let files: [SourceFile]
        /// The files of the test target, sorted by path.
        package let tests: [SourceFile]
        package let notes: [Note]
        package let operationCount: Int
        package let modelCount: Int
    }

    private let document: Document
    private let options: GenerationOptions

    package init(document: Document, options: GenerationOptions) {
        (self.document, self.options) = (document, options)
    }

    /// Generates the files.
    ///
    /// - Throws: `DocumentError` for a document that breaks a rule which no code can be written without.
    package func generate() throws(DocumentError) -> Output {
        let result = SwiftName.$given.withValue(options.names) {
            Result { () throws(DocumentError) in try output() }
        }
        return try result.get()
    }

    private func output() throws(DocumentError) -> Output {
        let notes = Notes()
        var names = NameTable(reserved: NameTable.reservedTypes)
        _ = names.claim(options.module)
        let apiNames = APINames(module: options.module, names: &names)
        let types = TypeBuilder(document: document, notes: notes, names: names)
        let builder = try OperationBuilder(types: types, options: options)
        let apis = try builder.apis()
        if options.tags.isEmpty, options.operations.isEmpty { types.buildComponents() }
        var graph = TypeGraph(types: types, apis: apis)
        graph.relaxOneWayProperties()
        graph.endUnionCycles()
        graph.breakCycles()
        graph.findTagging()
        graph.markErrors()
        let servers = Servers(document: document, notes: notes, options: options)
        let rendering = Rendering(
            document: document.root.file,
            options: options,
            types: types,
            names: apiNames,
            usesDates: graph.usesDates
        )
        let files = rendering.files(of: apis, servers: servers, keys: builder.security.keys)
        let tests = options.tests ? rendering.tests(of: apis).sorted { $0.path < $1.path } : []
        return Output(
            files: files.sorted { $0.path < $1.path },
            tests: tests,
            notes: notes.all,
            operationCount: apis.reduce(0) { $0 + $1.operations.count },
            modelCount: types.declarations.count
        )
    }
}

/// Writes the files.
struct Rendering {
    let document: String
    let options: GenerationOptions
    let types: TypeBuilder
    let names: APINames
    let usesDates: Bool

    private var access: Access { Access(isPublic: options.access == .public) }

    func files(of apis: [API], servers: Servers, keys: [APIKey]) -> [SourceFile] {
        var files = apis.flatMap { self.files(of: $0) }
        files.append(
            SourceWriter.file(
                names.servers + ".swift",
                from: document,
                access: access,
                imports: ["TargetKit", "TargetKitPlugins"]
            ) {
                ServersRenderer(access: access).render(servers, names: names, to: &$0)
            }
        )
        if !keys.isEmpty {
            files.append(
                SourceWriter.file(names.key + ".swift", from: document, access: access, imports: ["TargetKit"]) {
                    KeysRenderer(access: access, names: names).render(keys, to: &$0)
                }
            )
        }
        files += models(of: Set(apis.map(\.name)))
        let support = SupportRenderer(access: access, names: names, usesDates: usesDates)
        return files + support.files(for: files.map(\.text), from: document)
    }

    func tests(of apis: [API]) -> [SourceFile] {
        let renderer = TestRenderer(
            document: document,
            options: options,
            types: types,
            names: names,
            usesDates: usesDates
        )
        return renderer.files(of: apis)
    }

    private func files(of api: API) -> [SourceFile] {
        let renderer = APIRenderer(access: access, types: types, names: names, usesDates: usesDates)
        let imports = ["TargetKit", "TargetKitPlugins"]
        var files = [
            SourceWriter.file(api.name + ".swift", from: document, access: access, imports: imports) { writer in
                switch options.style {
                case .routed: renderer.render(api, to: &writer)
                case .typed:
                    for (index, operation) in api.operations.enumerated() {
                        if index > 0 { writer.line() }
                        TypedRenderer(routed: renderer).render(operation, to: &writer)
                    }
                }
            }
        ]
        if let own = ownTypes(of: api) { files.append(own) }
        if options.samples { files.append(samples(of: api)) }
        return files
    }

    private func samples(of api: API) -> SourceFile {
        let renderer = SampleRenderer(access: access, types: types)
        let path = api.name + "+Samples.swift"
        return SourceWriter.file(path, from: document, access: access, imports: ["TargetKit"]) { writer in
            switch options.style {
            case .routed: renderer.render(api, to: &writer)
            case .typed:
                for (index, operation) in api.operations.enumerated() {
                    if index > 0 { writer.line() }
                    renderer.renderTyped(operation, to: &writer)
                }
            }
        }
    }

    /// The types that only the operations of an API have.
    private func ownTypes(of api: API) -> SourceFile? {
        let declarations = types.declarations.values.filter { $0.group == api.name }.sorted { $0.name < $1.name }
        let results = api.operations.filter { $0.responses.resultName != nil }
        let forms = api.operations.compactMap { operation -> FormModel? in
            if case .multipart(let form)? = operation.body?.kind { form } else { nil }
        }
        guard !declarations.isEmpty || !results.isEmpty || !forms.isEmpty else { return nil }
        let hasPublicTypes = !declarations.isEmpty || !results.isEmpty || forms.contains(where: \.hasImportedTypes)
        let imported = Access(isPublic: access.isPublic && hasPublicTypes)
        return SourceWriter.file(api.name + "+Types.swift", from: document, access: imported, imports: ["TargetKit"]) {
            writer in
            var isFirst = true
            func separate() {
                if !isFirst { writer.line() }
                isFirst = false
            }
            for declaration in declarations {
                separate()
                DeclarationRenderer(access: access, types: types).render(declaration, to: &writer)
            }
            for form in forms {
                separate()
                FormRenderer(access: access, types: types, names: names, usesDates: usesDates).render(form, to: &writer)
            }
            for operation in results {
                separate()
                ResultRenderer(access: access).render(operation, to: &writer)
            }
        }
    }

    private func models(of apis: Set<String>) -> [SourceFile] {
        let groups = Dictionary(grouping: types.declarations.values.filter { !apis.contains($0.group) }, by: \.group)
        return groups.map { group, declarations in
            SourceWriter.file("Models/\(group).swift", from: document, access: access, imports: ["TargetKit"]) {
                writer in
                let own = declarations.filter { $0.name == group }
                let others = declarations.filter { $0.name != group }.sorted { $0.name < $1.name }
                for (index, declaration) in (own + others).enumerated() {
                    if index > 0 { writer.line() }
                    DeclarationRenderer(access: access, types: types).render(declaration, to: &writer)
                }
            }
        }
    }
}

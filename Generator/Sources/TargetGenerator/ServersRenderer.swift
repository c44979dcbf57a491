// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// The servers of a document as environments, one for each value of a variable that lists its values.
struct Servers {
    struct Server {
        let name: String
        let url: String
        let documentation: String
    }

    let servers: [Server]

    init(document: Document, notes: Notes, options: GenerationOptions) {
        var names = NameTable(reserved: ["store", "endpoint"])
        var servers: [Server] = []
        let places = document.root["servers"]?.elements ?? []
        if let url = options.baseURL, places.contains(where: { $0.string("url")?.contains("://") == true }) {
            let text = "The server that `baseURL` names: `\(url)`"
            servers.append(Server(name: names.claim("base"), url: url, documentation: text))
        }
        let others = servers.count
        for place in places {
            guard let template = place.string("url") else { continue }
            Self.noteVariables(of: place, template: template, notes: notes)
            for (url, values) in Self.urls(template, variables: place["variables"]?.members ?? []) {
                let absolute = Self.absolute(url, at: place, notes: notes, options: options)
                let description = place.string("description")
                let name = Self.name(description, values: values, index: servers.count - others)
                let text = (description.map { "\($0.singleLine): " } ?? "") + "`\(absolute)`"
                servers.append(Server(name: names.claim(name), url: absolute, documentation: text))
            }
        }
        if servers.isEmpty {
            let url = Self.absolute("/", at: document.root, notes: notes, options: options)
            servers.append(Server(name: "server", url: url, documentation: "`\(url)`"))
        }
        self.servers = servers
    }

    /// Notes the variables that only an app can know.
    private static func noteVariables(of place: Place, template: String, notes: Notes) {
        for (name, variable) in place["variables"]?.members ?? [] where template.contains("{\(name)}") {
            guard variable["enum"]?.node.array?.isEmpty ?? true else { continue }
            let standard = variable["default"]?.node.scalarText ?? ""
            let message =
                "“{\(name)}” can be anything; wrote “\(standard)”. Say another URL with `baseURL`, or when the app runs."
            notes.add(variable, "server variable", message)
        }
        let known = Set(place["variables"]?.members.map(\.name) ?? [])
        for name in PathTemplate(template).names where !known.contains(name) {
            let message = "“{\(name)}” isn't among the variables; wrote it as it is. Say another URL with `baseURL`."
            notes.add(place, "server variable", message)
        }
    }

    /// The URL of an operation's own servers: the first one, with the defaults of its variables.
    static func url(of places: Place, notes: Notes, options: GenerationOptions) -> String? {
        guard let place = places.elements.first, let template = place.string("url") else { return nil }
        let all = urls(template, variables: place["variables"]?.members ?? [])
        let url = absolute(all[0].0, at: place, notes: notes, options: options)
        if places.elements.count > 1 || all.count > 1 {
            notes.add(places, "servers", "an operation of its own has one server; wrote “\(url)”.")
        }
        return url
    }

    /// At most 16 combinations of the variables' values. A variable without a list of values has its default.
    private static func urls(_ template: String, variables: [(name: String, place: Place)]) -> [(String, [String])] {
        var urls: [(String, [String])] = [(template, [])]
        for (name, place) in variables {
            let given = place["enum"]?.node.array?.compactMap(\.scalarText) ?? []
            let standard = place["default"]?.node.scalarText
            var values = given
            if let standard { values = [standard] + given.filter { $0 != standard } }
            let hasChoice = values.count > 1 && urls.count * values.count <= 16
            if !hasChoice { values = [standard ?? given.first ?? ""] }
            urls = urls.flatMap { url, chosen in
                values.map { (url.replacing("{\(name)}", with: $0), hasChoice ? chosen + [$0] : chosen) }
            }
        }
        return urls
    }

    private static func absolute(_ url: String, at place: Place, notes: Notes, options: GenerationOptions) -> String {
        if url.contains("://") { return url }
        let base = options.baseURL ?? "http://localhost"
        if options.baseURL == nil {
            notes.add(place, "servers", "no absolute URL of a server; wrote “\(base)”. Say another with `--base-url`.")
        }
        let start = base.hasSuffix("/") ? String(base.dropLast()) : base
        return url == "/" || url.isEmpty ? start : start + (url.hasPrefix("/") ? url : "/" + url)
    }

    private static func name(_ description: String?, values: [String], index: Int) -> String {
        let words = SwiftName.words(of: description ?? "")
        let base = (1...3).contains(words.count) ? SwiftName.member(description ?? "") : "server\(index + 1)"
        let name = values.isEmpty ? base : SwiftName.member(values.joined(separator: " "))
        return SwiftName.declarable(name)
    }
}

/// Writes the environments.
struct ServersRenderer {
    let access: Access

    func render(_ servers: Servers, names: APINames, to writer: inout SourceWriter) {
        writer.documentation("The servers of the API, and the one that is in use.")
        writer.block("\(access.prefix)enum \(names.servers)") { writer in
            for server in servers.servers {
                writer.documentation(server.documentation)
                let arguments = [Literal.string(server.name), "baseURL: " + Literal.string(server.url)]
                let layout = Layout.call("ServerEnvironment", arguments.map(Layout.text))
                writer.expression("\(access.prefix)nonisolated static let \(SwiftName.escaped(server.name)) = ", layout)
            }
            writer.line()
            writer.documentation("All servers. Select another one with `select(_:)`.")
            var arguments = ["default: " + SwiftName.escaped(servers.servers[0].name)]
            let others = servers.servers.dropFirst().map { SwiftName.escaped($0.name) }
            if !others.isEmpty { arguments.append("others: [" + others.joined(separator: ", ") + "]") }
            let layout = Layout.call("EnvironmentStore", arguments.map(Layout.text))
            writer.expression("\(access.prefix)nonisolated static let store = ", layout)
            writer.line()
            writer.lines(access.isPublic ? Self.endpoint : Self.endpoint.replacing("public ", with: ""))
        }
    }

    /// The way to a server that the document doesn't list.
    private static let endpoint = """
        /// Returns an endpoint closure for a server that isn't listed here, for example one that the user enters.
        ///
        /// ```swift
        /// Provider<Target>(endpointClosure: endpoint { settings.server })
        /// ```
        ///
        /// - Parameter server: Returns the server's URL for each call; `nil` for the current one.
        public nonisolated static func endpoint<Target: EnvironmentTarget>(
            at server: @escaping @Sendable () -> URL?
        ) -> @Sendable (Target) throws -> Endpoint {
            { target in
                var endpoint = try Endpoint(target: target)
                guard let server = server() else { return endpoint }
                let base = target.baseURL.absoluteString
                let path = endpoint.url.absoluteString.dropFirst(base.count).drop { $0 == "/" }
                let start = server.absoluteString
                endpoint.url = URL(string: start + (start.hasSuffix("/") ? "" : "/") + path) ?? endpoint.url
                return endpoint
            }
        }
        """
}

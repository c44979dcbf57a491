// SPDX-License-Identifier: MIT

/// Writes the keys of an API, the option that names those of a call, and the plugin that adds them.
struct KeysRenderer {
    let access: Access
    let names: APINames

    func render(_ keys: [APIKey], to writer: inout SourceWriter) {
        writer.documentation("The keys of the API that aren't sent in the field `Authorization`.")
        writer.block("\(access.prefix)enum \(names.key): String, CodingKey, CallOptionKey") { writer in
            for key in keys {
                let text = "`\(key.field)` in the \(key.location.rawValue)."
                writer.documentation(key.documentation.map { $0 + "\n\n" + text } ?? text)
                let name = SwiftName.escaped(key.name)
                writer.line("case " + (key.name == key.scheme ? name : "\(name) = \(Literal.string(key.scheme))"))
            }
            writer.line()
            writer.documentation("The keys of a call that needs none.")
            writer.line("\(access.prefix)static let defaultValue: [\(names.key)] = []")
        }
        writer.line()
        writer.lines(access.isPublic ? option : option.replacing("public ", with: ""))
        writer.line()
        writer.lines(access.isPublic ? plugin(keys) : plugin(keys).replacing("public ", with: ""))
    }

    private var option: String {
        """
        extension CallOptions {
            /// The keys with which the call is sent; default: none.
            public nonisolated var \(names.keys): [\(names.key)] {
                get { self[\(names.key).self] }
                set { self[\(names.key).self] = newValue }
            }
        }
        """
    }

    private func plugin(_ keys: [APIKey]) -> String {
        let secrets = keys.filter { $0.location == .header }.map { Literal.string($0.field) }
        let fields = secrets.joined(separator: ", ")
        return """
            /// Adds the API's keys to the calls that need them.
            ///
            /// ```swift
            /// let plugin = \(names.key)Plugin { key in settings[key.stringValue] }
            /// ```
            public struct \(names.key)Plugin: Plugin {
                private let value: @Sendable (\(names.key)) async throws -> String?

                /// The hooks that the plugin implements.
                public var hooks: PluginHooks { [.prepare, .waiting] }
                /// The header fields whose values aren't logged.
                public var secretHeaders: Set<HTTPHeaderName> { [\(fields)] }

                /// Creates a plugin that gets the keys from a closure. A call is sent without a key that is `nil`.
                public init(_ value: @escaping @Sendable (\(names.key)) async throws -> String?) {
                    self.value = value
                }

                /// Adds the keys.
                public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                    var request = request
                    for key in context.options.\(names.keys) {
                        guard let value = try await value(key) else { continue }
                        switch key {
            \(keys.map { "            " + statement($0) }.joined(separator: "\n"))
                        }
                    }
                    return request
                }
            }
            """
    }

    private func statement(_ key: APIKey) -> String {
        let name = Literal.string(key.field)
        switch key.location {
        case .header: return "case .\(key.name): request.setValue(value, forHTTPHeaderField: \(name))"
        case .cookie:
            return """
                case .\(key.name):
                                let others = request.value(forHTTPHeaderField: "Cookie").map { $0 + "; " } ?? ""
                                request.setValue(others + \(Literal.string(key.field + "=")) + value.cookieText, forHTTPHeaderField: "Cookie")
                """
        default:
            return """
                case .\(key.name):
                                let item = escapedQuery("", [\(name): [value].escapedList(separator: "")])
                                var parts = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
                                let others = parts?.percentEncodedQuery.map { $0 + "&" } ?? ""
                                parts?.percentEncodedQuery = others + item
                                request.url = parts?.url
                """
        }
    }
}

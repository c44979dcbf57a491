// SPDX-License-Identifier: MIT
import Foundation
import TargetGenerator

/// The file `targetkit-openapi.json` beside a target's sources, for the plugins and for `--config`.
///
/// ```json
/// {
///     "document": "petstore.yaml",
///     "tags": ["pet"],
///     "access": "public",
///     "style": "routed",
///     "samples": true
/// }
/// ```
struct Configuration: Decodable {
    /// The document's path, relative to the folder of the configuration.
    var document: String
    var module: String?
    var tags: [String]?
    var operations: [String]?
    var access: String?
    var style: String?
    var baseURL: String?
    var security: [String]?
    /// Other names for those of the document.
    var names: [String: String]?
    var samples: Bool?
    var tests: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case document, module, tags, operations, access, style, baseURL, security, names, samples, tests
    }

    /// Reads a file.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and what is wrong.
    init(contentsOf file: URL) throws {
        do {
            let data = try Data(contentsOf: file)
            let known = Set(CodingKeys.allCases.map(\.rawValue))
            if let members = try JSONSerialization.jsonObject(with: data) as? [String: Any],
                let unknown = members.keys.sorted().first(where: { !known.contains($0) })
            {
                throw ConfigurationError(message: "“\(unknown)” is no option; there are \(known.sorted())")
            }
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw ConfigurationError(message: "\(file.path): \(error)")
        }
    }

    /// The options that the file sets.
    ///
    /// - Throws: ``ConfigurationError`` for an unknown access or style.
    func apply(to options: inout GenerationOptions) throws {
        options.module = module ?? options.module
        options.tags = Set(tags ?? [])
        options.operations = Set(operations ?? [])
        options.baseURL = baseURL
        options.security = security ?? []
        options.names = names ?? [:]
        options.tests = tests ?? false
        options.samples = samples ?? false || options.tests
        if let access {
            guard let value = GenerationOptions.Access(rawValue: access) else {
                throw ConfigurationError(message: "“\(access)” is no access; say “public” or “internal”")
            }
            options.access = value
        }
        if let style {
            guard let value = GenerationOptions.Style(rawValue: style) else {
                throw ConfigurationError(message: "“\(style)” is no style; say “routed” or “typed”")
            }
            options.style = value
        }
    }
}

/// What is wrong with a configuration.
struct ConfigurationError: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}

// SPDX-License-Identifier: MIT

/// What to generate, and how.
package struct GenerationOptions: Sendable {
    /// The access of the generated declarations.
    package enum Access: String, Sendable, CaseIterable { case `public`, `internal` }
    /// An enum for each tag, or a struct for each operation.
    package enum Style: String, Sendable, CaseIterable { case routed, typed }

    /// The module's name.
    package var module: String
    /// The tags whose operations are generated; empty: all.
    package var tags: Set<String> = []
    /// The identifiers of the operations that are generated; empty: all.
    package var operations: Set<String> = []
    /// The security schemes to use where an operation has alternatives, in order of preference.
    package var security: [String] = []
    /// Other names for those of the document, from which Swift's are made.
    package var names: [String: String] = [:]
    package var access = Access.public
    package var style = Style.routed
    package var samples = false
    package var tests = false
    /// The base URL for servers that are relative, or for a document without servers.
    package var baseURL: String?

    package init(module: String) { self.module = module }
}

// SPDX-License-Identifier: MIT
import OpenAPIDocument
import Testing

@testable import TargetGenerator

@Suite("Operations are sent with the credentials that they need")
struct CredentialTests {
    private func api(_ text: String, _ change: (inout GenerationOptions) -> Void = { _ in }) throws -> String {
        let output = try generate(text, change: change)
        return output.files.filter { ["ShopAPI.swift", "ShopKey.swift"].contains($0.path) }.map(\.text).joined()
    }

    private let responses = #"responses: {"204": {description: none}}"#

    @Test("An operation without security is sent without a token where others need one")
    func unsaid() throws {
        let text = try api(
            """
            paths:
              /a: {get: {operationId: open, \(responses)}, put: {operationId: shut, security: [{t: []}], \(responses)}}
            components: {securitySchemes: {t: {type: http, scheme: bearer}}}
            """
        )
        #expect(text.contains(#".setting(\.authorization, .none)"#))
        #expect(text.contains(#".setting(\.authorization, .bearer)"#))
    }

    @Test("A document that says nothing about security leaves it to the plugins")
    func silent() throws {
        let text = try api("paths: {/a: {get: {\(responses)}}}")
        #expect(!text.contains("authorization"))
    }

    @Test("A key is an option of the calls that need it, and a plugin", arguments: ["header", "query", "cookie"])
    func keys(location: String) throws {
        let text = try api(
            """
            security: [{key: []}]
            paths:
              /a: {get: {operationId: read, \(responses)}, put: {operationId: signIn, security: [], \(responses)}}
            components: {securitySchemes: {key: {type: apiKey, in: \(location), name: X-Key}}}
            """
        )
        #expect(text.contains(#"CallOptions.setting(\.shopKeys, [.key])"#), "\(text)")
        #expect(text.contains(#"CallOptions.setting(\.authorization, .none)"#))
        #expect(text.contains("public struct ShopKeyPlugin: Plugin {"))
        #expect(text.contains(#"secretHeaders: Set<HTTPHeaderName> { ["X-Key"] }"#) == (location == "header"))
    }

    private let alternatives = """
        security: [{key: []}, {token: [], key: []}]
        paths: {/a: {get: {responses: {"204": {description: none}}}}}
        components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}, token: {type: http, scheme: bearer}}}
        """

    @Test("Of several alternatives, the configuration chooses, and the run says which")
    func choice() throws {
        let first = try api(alternatives)
        #expect(first.contains(#".setting(\.authorization, .none).setting(\.shopKeys, [.key])"#), "\(first)")
        let other = try api(alternatives) { $0.security = ["token"] }
        #expect(other.contains(#".setting(\.authorization, .bearer).setting(\.shopKeys, [.key])"#), "\(other)")
        #expect(
            try generate(alternatives).notes.contains { $0.construct == "security" && $0.message.contains("“key”") }
        )
        #expect(throws: DocumentError.self) { try generate(alternatives) { $0.security = ["keys"] } }
    }
}

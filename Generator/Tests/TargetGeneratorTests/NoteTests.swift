// SPDX-License-Identifier: MIT
import OpenAPIDocument
import Testing

@testable import TargetGenerator

@Suite("What isn't expressed is said")
struct NoteTests {
    @Test("What isn't expressed is said with its pointer")
    func notes() throws {
        let output = try generate(
            """
            paths:
              /a/{id}:
                get:
                  callbacks: {x: {}}
                  responses: {"200": {content: {application/xml: {}, application/json: {}}}}
            components: {schemas: {A: {not: {type: string}}, B: {properties: {c: {$ref: '#/nothing'}}}}}
            """
        )
        let lines = output.notes.map(\.line)
        for pointer in ["get/callbacks:", "responses/200:", "A/not:", "properties/c:", "~1a~1{id}/get:"] {
            #expect(lines.contains { $0.contains(pointer) }, "\(pointer) in \(lines)")
        }
    }

    @Test("An identifier of two operations is one line with the pointer of the second, and both are written")
    func repeatedIdentifiers() throws {
        let output = try generate(
            """
            paths: {/a: {
              get: {operationId: add, responses: {"204": {description: none}}},
              post: {operationId: add, responses: {"204": {description: none}}},
              put: {responses: {"204": {description: none}}}}}
            """
        ) { $0.baseURL = "https://shop.example" }
        let note = try #require(output.notes.first)
        #expect(output.notes.count == 1)
        #expect(note.line.contains("#/paths/~1a/post/operationId: another operation has the identifier “add”"))
        let text = output.files.map(\.text).joined()
        #expect(text.contains("case add\n") && text.contains("case add2\n"))
    }

    @Test("Equal messages are one line")
    func folds() throws {
        let output = try generate(
            """
            components: {schemas: {A: {not: {type: string}}, B: {not: {type: string}}, C: {type: file}}}
            """
        )
        #expect(output.notes.foldedByMessage.map(\.count).sorted() == [1, 1, 2])
    }

    @Test(
        "A header field that isn't a parameter is one line with its pointer",
        arguments: ["Accept", "content-type", "Authorization"]
    )
    func fieldsOfRequests(name: String) throws {
        let output = try generate(
            """
            paths: {/a: {get: {
              parameters: [{name: \(name), in: header, required: true, schema: {type: string}}],
              responses: {"204": {description: none}}}}}
            """
        ) { $0.baseURL = "https://shop.example" }
        let note = try #require(output.notes.first)
        #expect(output.notes.count == 1)
        #expect(note.line.contains("#/paths/~1a/get/parameters/0: `\(name)` "))
        #expect(note.line.hasSuffix("; wrote no parameter."))
    }

    @Test(
        "A response that is neither a success nor an error is one line with its pointer",
        arguments: [("304", "3xx response"), ("3XX", "3xx response"), ("101", "1xx response"), ("ok", "response")]
    )
    func otherResponses(status: String, construct: String) throws {
        let output = try generate(
            """
            paths: {/a: {get: {responses: {"204": {description: none}, "\(status)": {description: other}}}}}
            """
        ) { $0.baseURL = "https://shop.example" }
        #expect(output.notes.map(\.construct) == [construct])
        #expect(output.notes.first?.line.contains("#/paths/~1a/get/responses/\(status): ") == true)
    }

    @Test("Each header field and link of a response is one line, once for a response that several operations have")
    func responseFields() throws {
        let output = try generate(
            """
            paths:
              /a:
                get: {responses: {"200": {$ref: '#/components/responses/R'}}}
                put: {responses: {"200": {$ref: '#/components/responses/R'}}}
            components:
              responses:
                R:
                  description: ok
                  headers: {X-Rest: {schema: {type: integer}}, Content-Type: {schema: {type: string}}}
                  links: {next: {operationId: a}}
            """
        )
        let lines = output.notes.filter { ["response header", "links"].contains($0.construct) }.map(\.line)
        #expect(lines.count == 2)
        #expect(lines.contains { $0.contains("responses/R/headers/X-Rest: ") && $0.contains(#"headers["X-Rest"]"#) })
        #expect(lines.contains { $0.contains("responses/R/links/next: ") })
    }

    @Test("What else has no counterpart in the targets is one line with its pointer")
    func others() throws {
        let output = try generate(
            """
            security: [{token: []}, {user: []}]
            paths:
              /a:
                query: {responses: {}}
                post:
                  tags: [x, y]
                  servers: [{url: "https://{r}.example", variables: {r: {default: eu, enum: [eu, us]}}}]
                  parameters: [{name: p, in: query, content: {text/plain: {schema: {type: string}}}}]
                  requestBody: {content: {application/x-www-form-urlencoded: {
                    schema: {type: object, properties: {l: {type: array, items: {type: string}}}},
                    encoding: {l: {explode: false}}}}}
                  responses: {"200": {description: ok}, "400": {description: bad, content: {text/plain: {}}}}
            components:
              schemas: {A: {type: object, properties: {b: {$ref: '#/components/schemas/B', properties: {}}}}, B: {type: object}}
              securitySchemes:
                token: {type: oauth2, flows: {}}
                user: {type: http, scheme: basic}
            """
        )
        let found = output.notes.map { "\($0.construct) \($0.place.drop { $0 != "#" })" }
        let expected = [
            "security #/security", "path item #/paths/~1a/query", "several tags #/paths/~1a/post/tags",
            "servers #/paths/~1a/post/servers", "parameter content #/paths/~1a/post/parameters/0/content/text~1plain",
            "encoding #/paths/~1a/post/requestBody/content/application~1x-www-form-urlencoded/encoding/l/explode",
            "error response #/paths/~1a/post/responses/400", "OAuth 2 #/components/securitySchemes/token",
            "beside $ref #/components/schemas/A/properties/b/properties",
        ]
        for note in expected { #expect(found.contains(note), "\(note) in \(found)") }
        let text = try #require(output.files.first { $0.path == "XAPI.swift" }).text
        #expect(text.contains("https://eu.example"))
    }

    @Test("An operation that refers to another place is written from it, or said")
    func referredOperations() throws {
        let output = try generate(
            """
            paths:
              /a: {get: {$ref: '#/components/x-operations/a'}, put: {$ref: 'missing.yaml'}}
            components: {x-operations: {a: {operationId: readA, responses: {"204": {description: none}}}}}
            """
        )
        #expect(output.operationCount == 1)
        #expect(output.notes.contains { $0.line.contains("#/paths/~1a/put: the operation's reference") })
        #expect(output.files.contains { $0.text.contains("case readA") })
    }

    @Test("A tag or an identifier that no operation has is an error")
    func unknownSelection() throws {
        let text = #"paths: {/a: {get: {tags: [x, y], operationId: a, responses: {"204": {description: none}}}}}"#
        #expect(throws: DocumentError.self) { try generate(text) { $0.tags = ["z"] } }
        #expect(throws: DocumentError.self) { try generate(text) { $0.operations = ["b"] } }
        // Any tag of an operation selects it, and the enum is that of the tag.
        #expect(try generate(text) { $0.tags = ["y"] }.files.contains { $0.path == "YAPI.swift" })
    }
}

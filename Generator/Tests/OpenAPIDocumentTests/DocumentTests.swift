// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import OpenAPIDocument

@Suite("Documents and their references")
struct DocumentTests {
    /// Writes files into a new folder, and reads the one named `openapi.yaml`.
    private func document(_ files: [String: String]) throws -> Document {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            let url = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        let document = try Document(contentsOf: folder.appending(path: "openapi.yaml"))
        // Other files are read on demand, so resolve all references while the folder exists.
        for (_, place) in document.root["components"]?["schemas"]?.members ?? [] { _ = try? document.resolved(place) }
        return document
    }

    @Test(
        "A document of another kind is refused with the reason",
        arguments: [
            ("swagger: '2.0'\npaths: {}", "converter.swagger.io"), ("paths: {}", "`openapi` is missing"),
            ("openapi: 2.5.0\npaths: {}", "not supported"), ("[1]", "an array"), ("openapi: 3.1.0", "needs `paths`"),
            ("openapi: 3.0.0\npaths: [1]", "/paths"), ("a: [", ":1:"),
        ]
    )
    func refuses(text: String, part: String) {
        let error = #expect(throws: DocumentError.self) { try document(["openapi.yaml": text]) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
    }

    @Test("References lead within the document, through others, and to files beside it")
    func resolvesReferences() throws {
        let document = try document([
            "openapi.yaml": """
            openapi: 3.1.0
            components:
              schemas:
                A: {$ref: '#/components/schemas/B'}
                B: {$ref: './more/pets.yaml#/Pet'}
                C: {$ref: '#/components/schemas/B/properties/owner'}
                D: {$ref: '#/components/schemas/D'}
                E: {$ref: 'https://example.com/x.yaml'}
                F: {$ref: '#/nothing'}
            """,
            "more/pets.yaml": "Pet: {properties: {owner: {$ref: 'owner.json'}}}",
            "more/owner.json": #"{"type": "string"}"#,
        ])
        func resolved(_ name: String) throws -> Place {
            try document.resolved(#require(document.root["components"]?["schemas"]?[name]))
        }
        #expect(try resolved("A").key == "more/pets.yaml#/Pet")
        #expect(try resolved("C").key == "more/owner.json#")
        #expect(throws: DocumentError.self) { try resolved("D") }
        #expect(throws: DocumentError.self) { try resolved("E") }
        let error = #expect(throws: DocumentError.self) { try resolved("F") }
        #expect(error?.description.contains("#/components/schemas/F") == true)
    }

    @Test(
        "Version 3.0's nullable and 3.1's type arrays mean the same",
        arguments: ["nullable: true, type: string", "type: [string, 'null']"]
    )
    func normalisesNull(text: String) throws {
        let schema = Schema(Place(node: try YAMLReader.read("{\(text)}"), file: "x", pointer: ""))
        #expect(schema.isNullable)
        #expect(schema.kinds == [.string])
    }
}

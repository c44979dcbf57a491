// SPDX-License-Identifier: MIT
import Foundation
import OpenAPIDocument
import Testing

@testable import TargetGenerator

@Suite("Swift is written from a document")
struct GenerationTests {
    /// Generates a document of which the schemas or paths are given.
    private func generate(_ text: String, change: (inout GenerationOptions) -> Void = { _ in }) throws
        -> TargetGenerator.Output
    {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".yaml")
        try Data(("openapi: 3.1.0\n" + text).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var options = GenerationOptions(module: "Shop")
        change(&options)
        return try TargetGenerator(document: Document(contentsOf: file), options: options).generate()
    }

    /// The text of the models of these schemas.
    private func models(_ schemas: String) throws -> String {
        let text = "components:\n  schemas:\n" + schemas.split(separator: "\n").map { "    \($0)\n" }.joined()
        return try generate(text).files.filter { $0.path.hasPrefix("Models/") }.map(\.text).joined()
    }

    private func shop(_ change: (inout GenerationOptions) -> Void = { _ in }) throws -> TargetGenerator.Output {
        let file = try #require(
            Bundle.module.url(forResource: "shop", withExtension: "yaml", subdirectory: "Documents")
        )
        var options = GenerationOptions(module: "Shop")
        change(&options)
        return try TargetGenerator(document: Document(contentsOf: file), options: options).generate()
    }

    @Test("The same document gives the same bytes")
    func isDeterministic() throws {
        let first = try shop { ($0.samples, $0.tests) = (true, true) }
        let second = try shop { ($0.samples, $0.tests) = (true, true) }
        #expect(first.files == second.files)
        #expect(first.tests == second.tests)
        #expect(first.notes == second.notes)
    }

    @Test("A tag is an enum whose route is one switch")
    func writesRoutes() throws {
        let text = try #require(try shop().files.first { $0.path == "PetAPI.swift" }).text
        #expect(text.contains("public enum PetAPI: RoutedTarget, EnvironmentTarget, ErrorMappingTarget {"))
        #expect(text.contains(#"case .getPetByID(let petID): .get("/pets/\(petID)")"#))
        #expect(text.contains(#".query(["filter": filter], encoder: .shop)"#))
        #expect(text.contains(#"\.authorization, .none"#))
    }

    @Test("The typed style writes a struct with its output for each operation")
    func writesTypedTargets() throws {
        let text = try #require(try shop { $0.style = .typed }.files.first { $0.path == "PetAPI.swift" }).text
        #expect(text.contains("public struct GetPetByID: RoutedTarget, TypedTarget"))
        #expect(text.contains("public typealias Output = Pet"))
    }

    @Test("Internal access writes nothing public")
    func writesInternal() throws {
        for file in try shop({ $0.access = .internal }).files {
            #expect(!file.text.contains("public "), "\(file.path)")
        }
    }

    @Test("Only the operations that are asked for, and their types, are written")
    func selects() throws {
        let output = try shop { $0.operations = ["getPetById"] }
        #expect(output.operationCount == 1)
        #expect(output.files.contains { $0.path == "Models/Pet.swift" })
        #expect(!output.files.contains { $0.path == "ShopAPI.swift" })
    }

    @Test("Every file has the mark and no line with trailing white space")
    func isClean() throws {
        let output = try shop { ($0.samples, $0.tests) = (true, true) }
        for file in output.files + output.tests {
            #expect(file.text.hasPrefix(SourceFile.mark), "\(file.path)")
            #expect(!file.text.split(separator: "\n").contains { $0.last?.isWhitespace == true }, "\(file.path)")
        }
    }

    @Test(
        "Schemas become these declarations",
        arguments: [
            ("A: {type: string, enum: [x, y]}", "public struct A: RawRepresentable"),
            ("A: {type: integer, enum: [1, 2]}", "public var rawValue: Int"),
            ("A: {properties: {b: {type: [string, 'null']}}}", "public var b: String?"),
            ("A: {required: [b], properties: {b: {type: [string, 'null']}}}", "try container.encode(b, forKey: .b)"),
            (
                "A: {properties: {b: {type: object, additionalProperties: {type: integer}}}}",
                "public var b: [String: Int]?"
            ),
            ("A: {properties: {b: {format: date-time, type: string}}}", "public var b: Date?"),
            ("A: {properties: {b: {format: int32, type: integer}}}", "public var b: Int32?"),
            ("A: {properties: {a: {$ref: '#/components/schemas/A'}}}", "public var a: Indirect<A>?"),
            ("A: {properties: {b: {oneOf: [{type: string}, {type: integer}]}}}", "public enum AB: Sendable"),
            ("A: {properties: {b: {anyOf: [{type: string}, {type: 'null'}]}}}", "public var b: String?"),
            ("A: {properties: {b: {}}}", "public var b: JSONValue?"),
            (
                "A: {allOf: [{properties: {b: {type: string}}}, {properties: {c: {type: string}}}]}",
                "public var c: String?"
            ),
            ("A: {anyOf: [{type: string}, {type: string, enum: [x]}]}", "public static let x = Self(rawValue: \"x\")"),
        ]
    )
    func declares(schema: String, part: String) throws {
        let text = try models(schema)
        #expect(text.contains(part), "\(text)")
    }

    @Test("A discriminator chooses the alternative")
    func writesDiscriminator() throws {
        let text = try models(
            """
            A: {oneOf: [{$ref: '#/components/schemas/B'}, {$ref: '#/components/schemas/C'}], discriminator: {propertyName: kind, mapping: {b: B}}}
            B: {type: object, properties: {kind: {type: string}}}
            C: {type: object, properties: {kind: {type: string}}}
            """
        )
        #expect(text.contains(#"case "b": self = .b(try B(from: decoder))"#))
        #expect(text.contains(#"case "C": self = .c(try C(from: decoder))"#))
    }

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

    @Test("An API key is said with its place, unless it is Authorization", arguments: ["query", "cookie", "header"])
    func keys(location: String) throws {
        for (field, isSaid) in [("X-Key", true), ("authorization", location != "header")] {
            let output = try generate(
                """
                paths: {/a: {get: {security: [{key: []}], responses: {"204": {description: none}}}}}
                components: {securitySchemes: {key: {type: apiKey, in: \(location), name: \(field)}}}
                """
            )
            let lines = output.notes.filter { $0.construct == "API key" }.map(\.line)
            let isFound = lines.contains { $0.contains("securitySchemes/key: ") && $0.contains(location) }
            #expect(isFound == isSaid, "\(lines)")
        }
    }

    @Test("An example that doesn't match its schema is replaced")
    func checksExamples() throws {
        let output = try generate(
            """
            paths:
              /a:
                get:
                  responses:
                    "200": {content: {application/json: {schema: {type: object, required: [n], properties: {n: {type: integer}}}, example: {n: x}}}}
            """
        ) { $0.samples = true }
        let samples = try #require(output.files.first { $0.path == "ShopAPI+Samples.swift" }).text
        #expect(samples.contains(##"Data(#"{"n":1}"#.utf8)"##))
        #expect(output.notes.contains { $0.construct == "example" })
    }

    @Test("A recursive schema without an object between is no endless loop")
    func endsRecursion() throws {
        let output = try generate("components: {schemas: {A: {type: array, items: {$ref: '#/components/schemas/A'}}}}")
        #expect(output.notes.contains { $0.construct == "recursion" })
    }
}

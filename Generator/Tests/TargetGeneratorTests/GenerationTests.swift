// SPDX-License-Identifier: MIT
import Foundation
import OpenAPIDocument
import Testing

@testable import TargetGenerator

@Suite("Swift is written from a document")
struct GenerationTests {
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
            (
                "A: {properties: {b: {oneOf: [{type: string}, {type: integer}]}}}",
                "public enum AB: Hashable, Codable, ResponseModel, RequestModel"
            ),
            ("A: {properties: {b: {anyOf: [{type: string}, {type: 'null'}]}}}", "public var b: String?"),
            ("A: {properties: {b: {}}}", "public var b: JSONValue?"),
            (
                "A: {allOf: [{properties: {b: {type: string}}}, {properties: {c: {type: string}}}]}",
                "public var c: String?"
            ),
            ("A: {anyOf: [{type: string}, {type: string, enum: [x]}]}", "public static let x = Self(rawValue: \"x\")"),
            ("A: {type: integer, enum: [1.0, 2.0]}", "public static let value1 = Self(rawValue: 1)"),
            (
                "A: {required: [b], properties: {b: {type: integer, format: int32, default: 3000000000}}}",
                "public init(b: Int32)"
            ),
            ("A: {required: [b], properties: {b: {type: number, default: 1e999}}}", "public init(b: Double)"),
        ]
    )
    func declares(schema: String, part: String) throws {
        let text = try models(schema)
        #expect(text.contains(part), "\(text)")
    }

    @Test("A file that names JSONValue imports what decodes it, publicly where the value of a target is one")
    func jsonImports() throws {
        let files = try generate(
            """
            paths:
              /a:
                get: {tags: [t], responses: {'200': {description: d, content: {application/json: {schema: {}}}}}}
            components: {schemas: {A: {properties: {b: {}}}, B: {properties: {c: {type: string}}}}}
            """
        ) { $0.style = .typed }.files
        func imports(_ path: String) throws -> [Substring] {
            try #require(files.first { $0.path == path }).text.split(separator: "\n").filter { $0.contains("import ") }
        }
        #expect(
            try imports("TAPI.swift") == [
                "public import TargetKit", "public import TargetKitJSON", "public import TargetKitPlugins",
            ]
        )
        #expect(try imports("Models/A.swift") == ["public import TargetKit", "import TargetKitJSON"])
        #expect(try imports("Models/B.swift") == ["public import TargetKit"])
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
        #expect(text.contains(#"if value.kind == nil { try Self.encode(tag: "b", to: encoder) }"#))
    }

    @Test("Alternatives of an object with the same title have cases of different names")
    func namesCasesOnce() throws {
        let text = try models(
            """
            A: {properties: {n: {type: integer}}, oneOf: [{title: B, properties: {x: {type: string}}}, {title: b, properties: {y: {type: string}}}, {title: init, properties: {z: {type: string}}}]}
            """
        )
        #expect(text.contains("case b(AB)"))
        #expect(text.contains("case b2(AB2)"))
        #expect(text.contains("case initValue(AInit)"))
    }

    @Test("A union adds its tag to an alternative that has no property for it")
    func addsTag() throws {
        let text = try models(
            """
            A: {oneOf: [{$ref: '#/components/schemas/B'}, {$ref: '#/components/schemas/C'}, {$ref: '#/components/schemas/D'}], discriminator: {propertyName: kind}}
            B: {type: object, properties: {n: {type: integer}}}
            C: {type: object, properties: {n: {type: integer}}, additionalProperties: {type: string}}
            D: {type: object, required: [kind], properties: {kind: {type: string}}}
            """
        )
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        let index = try #require(lines.firstIndex(of: "case .b(let value):"))
        #expect(lines[index + 1] == #"try Self.encode(tag: "B", to: encoder)"#)
        #expect(
            lines.contains(#"if value.additionalProperties["kind"] == nil { try Self.encode(tag: "C", to: encoder) }"#)
        )
        #expect(lines.contains("case .d(let value): try value.encode(to: encoder)"))
    }

    @Test("A value whose text is in the path or a header field is checked by the task")
    func checksTexts() throws {
        let output = try generate(
            """
            paths:
              /a/{o}/{j}:
                get:
                  parameters:
                    - {name: o, in: path, required: true, schema: {$ref: '#/components/schemas/O'}}
                    - {name: j, in: path, required: true, content: {application/json: {schema: {type: integer}}}}
                    - {name: X-O, in: header, schema: {$ref: '#/components/schemas/O'}}
                    - {name: X-J, in: header, required: true, content: {application/json: {schema: {$ref: '#/components/schemas/O'}}}}
                  responses: {"204": {description: none}}
            components: {schemas: {O: {type: object, properties: {n: {type: number}}}}}
            """
        )
        let text = try #require(output.files.first { $0.path == "ShopAPI.swift" }).text
        for (label, name) in [("o", "o"), ("j", "j"), ("xO", "X-O"), ("xJ", "X-J")] {
            #expect(text.contains(".checking(\(label), of: \"\(name)\")"), "\(name) in \(text)")
        }
        #expect(text.contains(#"\(JSONText(j).text)"#))
        #expect(output.files.contains { $0.path == "EncodingCheck.swift" })
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

    @Test("The test of a case whose values are all optional calls it without them")
    func testsOptionalValues() throws {
        let output = try generate(
            """
            paths: {/a: {get: {parameters: [{name: q, in: query}], responses: {"204": {description: none}}}}}
            """
        ) { $0.tests = true }
        let text = try #require(output.tests.first { $0.path == "ShopAPITests.swift" }).text
        #expect(text.contains("let target = ShopAPI.getA()\n"))
    }

    @Test(
        "What a call uses of the support files is written",
        arguments: [
            ("in: query, explode: false", "array", "EscapedText.swift"), ("in: path", "array", "EscapedText.swift"),
            ("in: query, explode: false", "object", "ObjectText.swift"),
            ("in: header", "object", "EncodingCheck.swift"),
            ("in: query", "object", "QueryFields.swift"),
        ]
    )
    func writesSupport(parameter: String, kind: String, file: String) throws {
        let output = try generate(
            """
            paths: {"/a/{p}": {get: {
              parameters: [{name: p, \(parameter), schema: {$ref: '#/components/schemas/V'}}],
              responses: {"204": {description: none}}}}}
            components: {schemas: {V: {type: \(kind), items: {type: string}, properties: {b: {type: string}}}}}
            """
        )
        #expect(output.files.map(\.path).contains(file))
    }

    @Test("A call of HEAD has no output")
    func headHasNoOutput() throws {
        let output = try generate(
            """
            paths: {/a: {head: {responses: {"200": {description: ok, content: {application/json: {schema: {type: integer}}}}}}}}
            """
        ) { $0.style = .typed }
        #expect(try #require(output.files.first { $0.path == "ShopAPI.swift" }).text.contains("TypedTarget") == false)
    }

    @Test("A recursive schema without an object between is no endless loop")
    func endsRecursion() throws {
        let output = try generate("components: {schemas: {A: {type: array, items: {$ref: '#/components/schemas/A'}}}}")
        #expect(output.notes.contains { $0.construct == "recursion" })
    }

    @Test(
        "A union that leads back to itself decodes without an endless loop",
        arguments: [
            ("{A: {oneOf: [{$ref: '#/components/schemas/A'}, {type: string}]}}", ["case string(String)"]),
            (
                """
                {A: {oneOf: [{$ref: '#/components/schemas/B'}, {type: string}]},
                B: {anyOf: [{$ref: '#/components/schemas/A'}, {type: integer}]}}
                """,
                ["case b(B)", "case string(String)"]
            ),
            (
                """
                {A: {oneOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/B'}]},
                B: {oneOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/A'}]}}
                """,
                ["case b(B)"]
            ),
        ]
    )
    func endsUnionCycles(schemas: String, cases: [String]) throws {
        let output = try generate("components: {schemas: \(schemas)}")
        let file = try #require(output.files.first { $0.path.hasSuffix("/A.swift") })
        let lines = file.text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
        #expect(lines.filter { $0.hasPrefix("case ") && !$0.hasPrefix("case .") }.map(String.init) == cases)
        #expect(output.notes.contains { $0.construct == "recursion" })
    }

    @Test("A property named await is escaped where its value is read")
    func await() throws {
        let output = try generate("components: {schemas: {A: {type: object, properties: {await: {type: string}}}}}")
        let file = try #require(output.files.first { $0.path.hasSuffix("/A.swift") })
        #expect(file.text.contains("self.await = `await`"))
    }

    @Test("A schema that is neither an object nor a boolean is said", arguments: ["1", "null", "[]", "text"])
    func notesNoSchema(schema: String) throws {
        let output = try generate("components: {schemas: {A: \(schema)}}")
        #expect(output.notes.contains { $0.construct == "schema" })
    }

    @Test("JSON in a header field has sorted keys, with dates and without", arguments: ["", ", format: date-time"])
    func sortsHeaders(format: String) throws {
        let output = try generate(
            """
            paths: {/a: {get: {
              parameters: [{name: X-Tea, in: header, content: {application/json: {schema: {
                type: object, properties: {a: {type: string\(format)}, b: {type: string}}}}}}],
              responses: {"204": {description: none}}}}}
            """
        )
        #expect(output.files.contains { $0.text.contains("struct JSONText") })
        #expect(output.files.contains { $0.text.contains("encoder.outputFormatting = .sortedKeys") })
    }

    @Test("The documentation of a schema without a name and a description says what it describes")
    func describesUnnamedSchemas() throws {
        let output = try generate(
            """
            paths: {/a: {post: {
              operationId: add,
              requestBody: {content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}},
              responses: {
                "200": {description: ok, content: {application/json: {schema: {type: object, properties: {
                  items: {type: array, items: {type: object, properties: {b: {type: string}}}},
                  schema: {type: object, properties: {c: {type: string}}}}}}}},
                "201": {description: ok, content: {application/json: {schema: {oneOf: [
                  {type: object, properties: {d: {type: string}}}, {type: integer}]}}}}}}}}
            """
        )
        let text = output.files.map(\.text).joined()
        for sentence in [
            "The body of the request.", "The body of the response `200`.", "An element of `items`.",
            "The schema `schema`.", "The alternatives of the body of the response `201`.",
            "An alternative of the body of the response `201`.",
        ] {
            #expect(text.components(separatedBy: "/// \(sentence)\n").count == 2, "\(sentence)")
        }
    }
}

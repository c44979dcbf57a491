// SPDX-License-Identifier: MIT
import Testing

@testable import TargetGenerator

@Suite("Unions choose the alternative that the discriminator means")
struct UnionTests {
    /// The lines of the union A of these schemas.
    private func lines(_ schemas: String) throws -> [Substring] {
        let output = try generate(
            "components:\n  schemas:\n" + schemas.split(separator: "\n").map { "    \($0)\n" }.joined()
        )
        let file = try #require(output.files.first { $0.path == "Models/A.swift" })
        return file.text.split(separator: "\n").map { $0.drop { $0 == " " } }
    }

    private let union =
        "oneOf: [{$ref: '#/components/schemas/B'}, {$ref: '#/components/schemas/C'}], discriminator: {propertyName: t}"

    @Test(
        "Without a mapping, the values of an alternative's property are its tags, however they are written",
        arguments: [
            ("{type: string, enum: [x]}", #"case "x": self = .b(try B(from: decoder))"#),
            ("{type: string, enum: [x, y]}", #"case "x", "y": self = .b(try B(from: decoder))"#),
            ("{anyOf: [{type: string, enum: [x]}, {type: 'null'}]}", #"case "x": self = .b(try B(from: decoder))"#),
            ("{$ref: '#/components/schemas/T'}", #"case "v", "w": self = .b(try B(from: decoder))"#),
            (
                "{allOf: [{$ref: '#/components/schemas/T'}, {description: d}]}",
                #"case "v", "w": self = .b(try B(from: decoder))"#
            ),
            ("{type: string}", #"case "B": self = .b(try B(from: decoder))"#),
        ]
    )
    func values(property: String, line: String) throws {
        let lines = try lines(
            """
            A: {\(union)}
            B: {type: object, properties: {t: \(property)}}
            C: {type: object, properties: {t: {type: string, enum: [z]}}}
            T: {type: string, enum: [v, w]}
            """
        )
        #expect(lines.contains { $0 == line }, "\(lines)")
        #expect(lines.contains(#"case "z": self = .c(try C(from: decoder))"#))
    }

    @Test("An alternative that is a union has the tags of its alternatives, mapped or not")
    func nested() throws {
        let lines = try lines(
            """
            A: {\(union)}
            B: {oneOf: [{$ref: '#/components/schemas/D'}, {$ref: '#/components/schemas/E'}], discriminator: {propertyName: t, mapping: {m: E}}}
            C: {type: object, properties: {t: {type: string, enum: [z]}}}
            D: {type: object, properties: {t: {type: string, enum: [d]}}}
            E: {type: object, properties: {t: {type: string}}}
            """
        )
        #expect(lines.contains(#"case "d", "m": self = .b(try B(from: decoder))"#), "\(lines)")
        #expect(lines.contains("case .b(let value): try value.encode(to: encoder)"))
    }

    @Test("Alternatives with the same value are tried in order, and the run says so")
    func shared() throws {
        let text = """
            components: {schemas: {
              A: {\(union)},
              B: {type: object, properties: {t: {type: string, enum: [x, y]}}},
              C: {type: object, properties: {t: {type: string, enum: [y]}}}}}
            """
        let output = try generate(text)
        #expect(output.notes.contains { $0.message.contains("“y”") })
        let file = try #require(output.files.first { $0.path == "Models/A.swift" })
        #expect(file.text.contains("if let value = try? B(from: decoder) {"))
        #expect(
            file.text.contains(#"case "x", nil: self"#)
                || file.text.contains(#"case "x": self = .b(try B(from: decoder))"#)
        )
    }

    @Test("A schema's name is no tag where the property lists other values")
    func listedByBase() throws {
        let lines = try lines(
            """
            A: {properties: {t: {type: string, enum: [b, c]}}, \(union)}
            B: {type: object, properties: {n: {type: integer}}}
            C: {type: object, properties: {m: {type: integer}}}
            """
        )
        #expect(!lines.contains { $0.hasPrefix(#"case "B""#) }, "\(lines)")
    }

    @Test("Of values that all alternatives inherit, each has the one that is its name")
    func inherited() throws {
        let lines = try lines(
            """
            A: {\(union)}
            B: {allOf: [{$ref: '#/components/schemas/P'}, {properties: {n: {type: integer}}}]}
            C: {allOf: [{$ref: '#/components/schemas/P'}]}
            P: {type: object, required: [t], properties: {t: {type: string, enum: [B, C]}}}
            """
        )
        #expect(lines.contains(#"case "B": self = .b(try B(from: decoder))"#), "\(lines)")
    }

    @Test("A value whose tag is unknown is kept, and an outer union takes it last")
    func unknown() throws {
        let lines = try lines(
            """
            A: {oneOf: [{$ref: '#/components/schemas/U'}, {$ref: '#/components/schemas/D'}]}
            U: {\(union)}
            B: {type: object, properties: {t: {type: string, enum: [x]}}}
            C: {type: object, properties: {t: {type: string, enum: [z]}}}
            D: {type: object, required: [n], properties: {n: {type: integer}}}
            """
        )
        let tries = lines.filter { $0.contains("try? container.decode") }
        #expect(tries.count == 3 && tries[0].contains("!value.isOther") && !tries[2].contains("isOther"), "\(lines)")
        let output = try generate(
            "components: {schemas: {U: {\(union)}, B: {properties: {n: {}}}, C: {properties: {n: {}}}}}"
        )
        let text = try #require(output.files.first { $0.path == "Models/U.swift" }).text
        #expect(text.contains("case other(JSONValue)"))
        #expect(text.contains("default: self = .other(try JSONValue(from: decoder))"))
        #expect(text.contains("case .other(let value): try value.encode(to: encoder)"))
    }
}

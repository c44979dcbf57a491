// SPDX-License-Identifier: MIT
import Foundation
import TargetKitContracts
import TargetKitTesting
import TestSupport
import Testing

@Suite("A response against a schema of an OpenAPI document", .throttled)
struct OpenAPISchemaTests {
    /// The lines for a body of the only operation of a document, without the heading.
    private func differences(
        _ schema: String,
        _ body: String,
        version: String = "3.1.0",
        components: String = "{}"
    ) throws -> [String] {
        let document = """
            {"openapi":"\(version)","paths":{"/a":{"get":{"responses":{"200":{"content":
            {"application/json":{"schema":\(schema)}}}}}}},"components":{"schemas":\(components)}}
            """
        let contract = try OpenAPIContract(document: Data(document.utf8))
        let response = Response(
            statusCode: 200,
            data: Data(body.utf8),
            headers: ["Content-Type": "application/json"]
        )
        do {
            try contract.check(response, for: "GET /a")
            return []
        } catch {
            let root = "#/paths/~1a/get/responses/200/content/application~1json/schema"
            return "\(error)".split(separator: "\n").dropFirst()
                .map { $0.dropFirst(2).replacingOccurrences(of: root, with: "#") }
        }
    }

    struct Keyword: Sendable, CustomTestStringConvertible {
        let schema: String
        let valid: [String]
        let invalid: String
        let line: String
        var testDescription: String { schema }

        init(_ schema: String, _ valid: [String], _ invalid: String, _ line: String) {
            (self.schema, self.valid, self.invalid, self.line) = (schema, valid, invalid, line)
        }
    }

    private static let values = [
        Keyword(
            #"{"type":"integer"}"#,
            ["1", "1.0", "1e300"],
            "1.5",
            "the body: expected an integer, found the number 1.5 (#/type)"
        ),
        Keyword(
            #"{"type":["string","null"]}"#,
            [#""a""#, "null"],
            "true",
            "the body: expected a string or null, found the Boolean true (#/type)"
        ),
        Keyword(
            #"{"enum":["a",1]}"#,
            ["1.0", #""a""#],
            #""b""#,
            #"the body: expected one of "a", 1, found the string "b" (#/enum)"#
        ),
        Keyword(#"{"const":null}"#, ["null"], "0", "the body: expected null, found the number 0 (#/const)"),
        Keyword(
            #"{"minimum":2}"#,
            ["2", #""a""#],
            "1",
            "the body: expected at least 2, found the number 1 (#/minimum)"
        ),
        Keyword(
            #"{"exclusiveMaximum":2}"#,
            ["1.99"],
            "2",
            "the body: expected less than 2, found the number 2 (#/exclusiveMaximum)"
        ),
        Keyword(
            #"{"multipleOf":0.01}"#,
            ["4.35", "0"],
            "0.005",
            "the body: expected a multiple of 0.01, found the number 0.005 (#/multipleOf)"
        ),
        Keyword(
            #"{"maxLength":1}"#,
            [#""é""#, #""😀""#],
            #""ab""#,
            #"the body: expected at most 1 character, found the string "ab" (#/maxLength)"#
        ),
        Keyword(
            #"{"pattern":"^\\d+$"}"#,
            [#""12""#],
            #""1\n""#,
            #"the body: expected a match of ^\d+$, found the string "1\n" (#/pattern)"#
        ),
        Keyword(
            #"{"pattern":"^[\\w-.]+@[+-\\d]-\\w+$"}"#,
            [#""a-b.c@+-x""#, #""a@--x""#, #""a@7-x""#],
            #""a@.-x""#,
            ##"the body: expected a match of ^[\w-.]+@[+-\d]-\w+$, found the string "a@.-x" (#/pattern)"##
        ),
        Keyword(
            #"{"format":"int32"}"#,
            ["2147483647"],
            "2147483648",
            "the body: expected the format int32, found the number 2147483648 (#/format)"
        ),
    ]

    private static let containers = [
        Keyword(
            #"{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}"#,
            ["[]", #"["a",1]"#],
            #"["a","b"]"#,
            #"/1: expected a number, found the string "b" (#/items/type)"#
        ),
        Keyword(
            #"{"minItems":1}"#,
            ["[1]"],
            "[]",
            "the body: expected 1 element or more, found 0 (#/minItems)"
        ),
        Keyword(
            #"{"uniqueItems":true}"#,
            ["[1,2]", #"[{"a":1},{"a":2}]"#],
            #"[{"a":1,"b":2},{"b":2,"a":1.0}]"#,
            "the body: expected unique elements, but 0 and 1 are equal (#/uniqueItems)"
        ),
        Keyword(
            #"{"contains":{"type":"null"},"maxContains":1}"#,
            ["[1,null]"],
            "[1]",
            "the body: expected 1 or more elements that match the schema, found 0 (#/contains)"
        ),
        Keyword(
            #"{"required":["a/b"]}"#,
            [#"{"a/b":1}"#],
            "{}",
            "/a~1b: missing, but required (#/required)"
        ),
        Keyword(
            #"{"properties":{"a":{}},"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#,
            [#"{"a":1,"x-b":"c"}"#],
            #"{"b":1}"#,
            "/b: the schema has no such property, found the number 1 (#/additionalProperties)"
        ),
        Keyword(
            #"{"additionalProperties":{"type":"string"}}"#,
            [#"{"a":"b"}"#],
            #"{"a":1}"#,
            "/a: expected a string, found the number 1 (#/additionalProperties/type)"
        ),
        Keyword(
            #"{"propertyNames":{"maxLength":1}}"#,
            [#"{"a":1}"#],
            #"{"ab":1}"#,
            "/ab: the name: expected at most 1 character (#/propertyNames/maxLength)"
        ),
        Keyword(
            #"{"dependentRequired":{"a":["b"]}}"#,
            ["{}", #"{"a":1,"b":1}"#],
            #"{"a":1}"#,
            "the body: b is missing, but required beside a (#/dependentRequired/a)"
        ),
    ]

    private static let compositions = [
        Keyword(
            #"{"allOf":[{"type":"number"},{"minimum":2}]}"#,
            ["2"],
            "1",
            "the body: expected at least 2, found the number 1 (#/allOf/1/minimum)"
        ),
        Keyword(
            #"{"anyOf":[{"type":"number"},{"type":"string"}]}"#,
            ["2", #""a""#],
            "true",
            "the body: expected a match of one of 2 schemas, found the Boolean true (#/anyOf)"
        ),
        Keyword(
            #"{"oneOf":[{"minimum":2},{"maximum":3}]}"#,
            ["1", "4"],
            "2",
            "the body: expected a match of one schema, but it matches #/oneOf/0, #/oneOf/1, found the number 2 (#/oneOf)"
        ),
        Keyword(
            #"{"not":{"type":"string"}}"#,
            ["1"],
            #""a""#,
            #"the body: expected a value that doesn't match the schema, found the string "a" (#/not)"#
        ),
        Keyword(
            #"{"if":{"minimum":5},"then":{"multipleOf":2},"else":{"const":0}}"#,
            ["6", "0"],
            "1",
            "the body: expected 0, found the number 1 (#/else/const)"
        ),
        Keyword("false", [], "1", "the body: the schema allows no value here, found the number 1 (#)"),
    ]

    @Test("A keyword is checked, and its place and the value's are said", arguments: values + containers + compositions)
    func keyword(_ keyword: Keyword) throws {
        for body in keyword.valid { #expect(try differences(keyword.schema, body) == []) }
        #expect(try differences(keyword.schema, keyword.invalid) == [keyword.line])
    }

    @Test(
        "Formats are checked",
        arguments: [
            ("date", "2024-02-29", "2023-02-29"),
            ("date-time", "2026-12-31T23:59:60Z", "2026-12-31 23:59:59Z"),
            ("uuid", "2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638"),
            ("uri", "https://a.example/?q=%20#b", "/relative"), ("email", "a.b+c@d.example", "a@-b"),
            ("ipv4", "127.0.0.1", "127.0.0.01"), ("ipv6", "::ffff:1.2.3.4", "1::2::3"), ("byte", "YQ==", "YQ="),
        ]
    )
    func format(name: String, valid: String, invalid: String) throws {
        #expect(try differences(#"{"format":"\#(name)"}"#, "\"\(valid)\"") == [])
        #expect(
            try differences(#"{"format":"\#(name)"}"#, "\"\(invalid)\"") == [
                "the body: expected the format \(name), found the string \"\(invalid)\" (#/format)"
            ]
        )
    }

    @Test("In version 3.0, values can be nullable, limits exclusive, and a reference hides what is beside it")
    func version30() throws {
        #expect(try differences(#"{"type":"string","nullable":true,"enum":["a"]}"#, "null", version: "3.0.3") == [])
        #expect(try differences(#"{"type":"string","nullable":true}"#, "null", version: "3.1.0").count == 1)
        #expect(
            try differences(#"{"minimum":1,"exclusiveMinimum":true}"#, "1", version: "3.0.3") == [
                "the body: expected more than 1, found the number 1 (#/minimum)"
            ]
        )
        let beside = ##"{"$ref":"#/components/schemas/A","minimum":5}"##
        #expect(try differences(beside, "1", version: "3.0.3", components: #"{"A":{"type":"number"}}"#) == [])
        #expect(try differences(beside, "1", version: "3.1.0", components: #"{"A":{"type":"number"}}"#).count == 1)
    }

    private static let tree = ##"""
        {"Tree":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},
        "children":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}}}}}
        """##

    @Test("A recursive schema is followed, and its keyword is named where the document has it")
    func recursion() throws {
        let reference = ##"{"$ref":"#/components/schemas/Tree"}"##
        let body = #"{"name":"a","children":[{"name":"b","children":[{"name":7},{}]}]}"#
        #expect(
            try differences(reference, body, components: Self.tree) == [
                "/children/0/children/0/name: expected a string, found the number 7 "
                    + "(#/components/schemas/Tree/properties/name/type)",
                "/children/0/children/1/name: missing, but required (#/components/schemas/Tree/required)",
            ]
        )
        let circle = ##"{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}}"##
        #expect(try differences(##"{"$ref":"#/components/schemas/A"}"##, "1", components: circle) == [])
    }

    @Test("A reference that leads nowhere is a difference")
    func missingReference() throws {
        #expect(
            try differences(##"{"$ref":"other.json#/A"}"##, "1") == [
                ##"the body: the document has no "other.json#/A", so this isn't checked (#/$ref)"##
            ]
        )
    }

    private static let pets = ##"""
        {"Cat":{"type":"object","required":["lives"],"properties":{"lives":{"type":"integer"}}},
        "Dog":{"type":"object","properties":{"name":{"type":"string"}}},
        "Animal":{"type":"object","discriminator":{"propertyName":"kind"}},
        "Bird":{"allOf":[{"$ref":"#/components/schemas/Animal"},{"required":["wings"]}]}}
        """##

    @Test("A discriminator selects the schema, by its mapping, its name, or the schemas that extend it")
    func discriminators() throws {
        let alternatives = ##"""
            {"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":
            {"propertyName":"kind","mapping":{"tom":"#/components/schemas/Cat","rex":"Dog"}}}
            """##
        let missing = "/lives: missing, but required (#/components/schemas/Cat/required)"
        #expect(try differences(alternatives, #"{"kind":"tom"}"#, components: Self.pets) == [missing])
        #expect(try differences(alternatives, #"{"kind":"Cat"}"#, components: Self.pets) == [missing])
        #expect(try differences(alternatives, #"{"kind":"rex","lives":1}"#, components: Self.pets) == [])
        let animal = ##"{"$ref":"#/components/schemas/Animal"}"##
        #expect(
            try differences(animal, #"{"kind":"Bird"}"#, components: Self.pets) == [
                "/wings: missing, but required (#/components/schemas/Bird/allOf/1/required)"
            ]
        )
        #expect(try differences(animal, #"{"kind":"unknown"}"#, components: Self.pets) == [])
    }

    @Test("Of alternatives of which none fits, the closest one's differences are said")
    func closest() throws {
        let schema = ##"""
            {"oneOf":[{"type":"string"},{"$ref":"#/components/schemas/Cat"},{"required":["a","b"]}]}
            """##
        #expect(
            try differences(schema, #"{"lives":"9"}"#, components: Self.pets) == [
                "the body: expected a match of one of 3 schemas; the closest is #/components/schemas/Cat (#/oneOf)",
                #"/lives: expected an integer, found the string "9" (#/components/schemas/Cat/properties/lives/type)"#,
            ]
        )
    }

    @Test("A required property that is only part of requests can be missing")
    func writeOnly() throws {
        let schema = #"{"required":["pin","id"],"properties":{"pin":{"writeOnly":true},"id":{"readOnly":true}}}"#
        #expect(try differences(schema, #"{"id":1}"#) == [])
    }

    @Test("The message does not contain a secret, and a redacted value fits")
    func secrets() throws {
        let schema = #"{"properties":{"accessToken":{"type":"string","maxLength":4}}}"#
        let found = try differences(schema, #"{"accessToken":"sk9fJ2kL8qPz7XvB3nM1"}"#)
        #expect(found.count == 1 && found[0].hasPrefix("/accessToken: expected at most 4 characters"))
        #expect(!found.joined().contains("sk9f"))
        #expect(try differences(#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":"<redacted>"}"#) == [])
    }

    @Test("What a server makes too deep, too large or too slow to check is said", .timeLimit(.minutes(1)))
    func hostile() throws {
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        let list = ##"{"L":{"items":{"$ref":"#/components/schemas/L"}}}"##
        let deepLines = try differences(##"{"$ref":"#/components/schemas/L"}"##, deep, components: list)
        #expect(deepLines.count == 1 && deepLines[0].hasPrefix("the body: the value is too deeply nested"))
        let twice = ##"""
            {"T":{"properties":{"b":false,"a":{"anyOf":[{"$ref":"#/components/schemas/T"},
            {"$ref":"#/components/schemas/T"}]}}}}
            """##
        let chain = String(repeating: #"{"a":"#, count: 25) + #"{"b":1}"# + String(repeating: "}", count: 25)
        let lines = try differences(##"{"$ref":"#/components/schemas/T"}"##, chain, components: twice)
        #expect(lines.last?.hasPrefix("the body: the schema has too many alternatives") == true)
        let slow = try differences(#"{"pattern":"^(a+)+$"}"#, "\"\(String(repeating: "a", count: 60))!\"")
        #expect(slow == ["the body: the pattern ^(a+)+$ is invalid or takes too long (#/pattern)"])
    }
}

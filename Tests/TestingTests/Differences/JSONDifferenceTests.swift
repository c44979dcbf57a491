// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

@Suite("JSONDifference", .throttled)
struct JSONDifferenceTests {
    private func lines(_ expected: String, _ found: String) throws -> [String] {
        try JSONDifference.lines(JSONValue(parsing: expected), found: JSONValue(parsing: found))
    }

    @Test(
        "A difference is named by its key path",
        arguments: [
            (#"{"a":{"b":[1,{"c":2}]}}"#, #"{"a":{"b":[1,{"c":3}]}}"#, "a.b.1.c: expected 2, found 3"),
            (#"{"a":1,"b":2}"#, #"{"a":1}"#, "b: missing, expected 2"),
            (#"{"a":1}"#, #"{"a":1,"b":[2]}"#, "b: not expected, found [2]"),
            (#"{"a":1}"#, #"{"a":"1"}"#, #"a: expected the number 1, found the string "1""#),
            (#"{"a":1}"#, #"{"a":true}"#, "a: expected the number 1, found the Boolean true"),
            (#"{"a":null}"#, #"{"a":{}}"#, "a: expected null, found the object {}"),
            (#"{"a.b":1}"#, #"{"a.b":2}"#, #"a\.b: expected 1, found 2"#),
            ("1", "2", "expected 1, found 2"),
        ]
    )
    func keyPaths(_ expected: String, _ found: String, _ line: String) throws {
        #expect(try lines(expected, found) == [line])
    }

    @Test(
        "Equal documents have none, whatever the order of their keys and the spelling of their numbers",
        arguments: [
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#), ("[1, 10]", "[1.0, 1e1]"), (#""é""#, #""\u00e9""#), ("[]", " [ ] "),
        ]
    )
    func equal(_ expected: String, _ found: String) throws {
        #expect(try lines(expected, found).isEmpty)
    }

    @Test("The elements of arrays are aligned")
    func arrays() throws {
        #expect(try lines("[1,2,3,4]", "[1,3,4]") == ["1: missing, expected 2"])
        #expect(try lines("[1,2,3]", "[1,9,2,3]") == ["1: not expected, found 9"])
        #expect(try lines("[1,2,3]", "[2,3,4]") == ["0: missing, expected 1", "2: not expected, found 4"])
        #expect(try lines(#"[{"id":1},{"id":2}]"#, #"[{"id":1},{"id":3}]"#) == ["1.id: expected 2, found 3"])
    }

    @Test("The list of differences and the values in it are limited")
    func limits() throws {
        let long = String(repeating: "x", count: 500)
        let lines = try lines("[\"\(long)\"]", "[\"y\"]")
        #expect(lines.count == 1 && lines[0].count < 200)
        let old = JSONValue.array((0..<2_000).map { JSONValue($0) })
        let new = JSONValue.array((0..<2_000).map { JSONValue(-1 - $0) })
        let many = JSONDifference.lines(old, found: new)
        #expect(many.count == 21)
        #expect(many.last == "… and 1980 more differences")
        #expect(
            JSONDifference.lines(.array([old]), found: .array([.null])) == [
                "0: expected the array [… 2000 elements], found null"
            ]
        )
    }
}

@Suite("TextDifference", .throttled)
struct TextDifferenceTests {
    @Test("It shows the lines that differ, with two lines around them")
    func lines() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8"
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9"
        #expect(
            TextDifference.lines(old, found: new) == [
                "  … 2 equal lines", "  3", "  4", "- 5", "+ five", "  6", "  7", "  8", "+ 9",
            ]
        )
        #expect(TextDifference.lines(old, found: old).isEmpty)
        #expect(TextDifference.lines("a\nb", found: "a\r\nb") == ["  the line breaks differ"])
    }

    @Test("Texts of many lines are cut")
    func manyLines() {
        let old = (0..<1_000).map(String.init).joined(separator: "\n")
        let new = (0..<1_000).map { "x\($0)" }.joined(separator: "\n")
        let lines = TextDifference.lines(old, found: new)
        #expect(lines.count == 41)
        #expect(lines.last == "… and 1960 more lines")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("JSON from untyped values", .throttled)
struct JSONValueAnyTests {
    @Test(
        "What JSONSerialization returns is the JSON that it has parsed",
        arguments: [
            #"{"a":[1,2.5,true,false,null,"x"],"b":{"c":{}},"d":-7,"e":[]}"#, "[]", "7", "true", "0", "1", "null",
            #""text""#, "12345678901234567890", "0.1", "[[[[1]]]]",
        ]
    )
    func serialized(text: String) throws {
        let untyped = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        #expect(try JSONValue(any: untyped) == JSONValue(parsing: text))
    }

    @Test("Swift's own values, optionals and JSON are converted")
    func values() throws {
        let none: Int? = nil
        let value: [String: Any] = [
            "int": 1 as Int8, "flag": true, "none": none as Any, "decimal": Decimal(string: "0.10") ?? 0,
            "json": JSONValue(7), "link": URL(string: "https://a.example/b") ?? .example, "list": [Double(1.5)],
        ]
        let json = try JSONValue(any: value)
        let expected: JSONValue = [
            "int": 1, "flag": true, "none": nil, "decimal": 0.1, "json": 7, "link": "https://a.example/b",
            "list": [1.5],
        ]
        #expect(json == expected)
    }

    @Test("A value that JSON doesn't have is an error with its path and type, without the value")
    func unsupported() throws {
        struct Secret { var text = "hunter2" }
        let cases: [(Any, String)] = [
            (["items": [1, ["date": Date.now]]], "the value at items[1].date can't be JSON: it is a Date; pass"),
            (["a": Secret()], "the value at a can't be JSON: it is a Secret; pass"),
            ([1: "a"], "the value can't be JSON: it is a Dictionary<Int, String>; pass"),
            (["x": Double.nan], "the value at x can't be JSON: it is NaN or infinite"),
        ]
        for (value, words) in cases {
            let error = try #require(throws: (any Error).self) { try JSONValue(any: value) }
            #expect("\(error)".hasPrefix(words), "\(error)")
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test("Nesting of 512 levels is converted, and deeper nesting is an error")
    func nesting() throws {
        func nested(_ depth: Int) -> Any { (0..<depth).reduce(1 as Any) { value, _ in [value] } }
        _ = try JSONValue(any: nested(512))
        let error = try #require(throws: (any Error).self) { try JSONValue(any: nested(513)) }
        #expect("\(error)" == "the value can't be JSON: it is nested deeper than 512 levels")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
@testable import TargetKitJSON
import TestSupport
import Testing

@Suite("JSONValue", .throttled)
struct JSONValueTests {
    static let json: JSONValue = [
        "data": ["users": [["name": "Ann", "age": 41], ["name": "Bo", "age": nil]], "a.b": 1, "0": "zero"],
        "price": 9.5, "isOpen": true, "string": "by subscript",
    ]

    @Test("Values are reached by key, index, dynamic member and key path")
    func reaching() {
        let json = Self.json
        #expect(json["data"]["users"][0]["name"] == "Ann")
        #expect(json.data.users[1].name.string == "Bo")
        #expect(json[path: "data.users.1.name"] == "Bo")
        #expect(json[path: #"data.a\.b"#] == 1)
        #expect(json[path: "data.0"] == "zero")
        #expect(json[path: ""] == json)
        #expect(json["string"].string == "by subscript")
    }

    @Test("What is not there is null, however far one goes")
    func missing() {
        let json = Self.json
        #expect(json.nothing.at.all[3] == .null)
        #expect(json.data.users[2] == nil)
        #expect(json.data.users[-1] == nil)
        #expect(json.data.users.name == nil)
        #expect(json.price["x"][0] == nil)
        #expect(json[path: "data.users.x"] == nil)
        #expect(json[path: "data.users.+1"] == nil)
        #expect(json[path: "data.users.99999999999999999999"] == nil)
    }

    @Test("A typed accessor has a value for its own type only")
    func typed() {
        let values: [JSONValue] = [nil, true, 12, 1.5, "12", [1], ["a": 1]]
        #expect(values.map(\.string) == [nil, nil, nil, nil, "12", nil, nil])
        #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.int) == [nil, nil, 12, nil, nil, nil, nil])
        #expect(values.map(\.number?.int64) == [nil, nil, 12, nil, nil, nil, nil])
        #expect(values.map(\.number?.uint64) == [nil, nil, 12, nil, nil, nil, nil])
        #expect(values.map(\.double) == [nil, nil, 12, 1.5, nil, nil, nil])
        #expect(values.map(\.decimal) == [nil, nil, 12, 1.5, nil, nil, nil])
        #expect(values.map(\.array) == [nil, nil, nil, nil, nil, [1], nil])
        #expect(values.map(\.object) == [nil, nil, nil, nil, nil, nil, ["a": 1]])
        #expect(values.map(\.dictionary) == [nil, nil, nil, nil, nil, nil, ["a": 1]])
        #expect(values.map { $0 == .null } == [true, false, false, false, false, false, false])
    }

    @Test(
        "A lenient accessor reads what is near to its type",
        arguments: [
            ("12", 12, 12, nil, "12"), ("12.0", 12, 12, nil, "12"), ("-7.9", -7, -7.9, nil, "-7.9"),
            ("0", 0, 0, false, "0"),
            ("1", 1, 1, true, "1"), ("true", 1, 1, true, "true"), ("false", 0, 0, false, "false"),
            (#""12""#, 12, 12, nil, "12"), (#"" 12 ""#, 12, 12, nil, " 12 "), (#""-7.9""#, -7, -7.9, nil, "-7.9"),
            (#""007""#, 7, 7, nil, "007"), (#""+3""#, 3, 3, nil, "+3"), (#""1e3""#, 1_000, 1_000, nil, "1e3"),
            (#"".5""#, 0, 0.5, nil, ".5"), (#""YES""#, nil, nil, true, "YES"), (#""False""#, nil, nil, false, "False"),
            (#""""#, nil, nil, nil, ""), (#""x""#, nil, nil, nil, "x"), (#""12x""#, nil, nil, nil, "12x"),
            (#""0x1F""#, nil, nil, nil, "0x1F"), (#""nan""#, nil, nil, nil, "nan"), (#""inf""#, nil, nil, nil, "inf"),
            ("null", nil, nil, nil, nil), ("[1]", nil, nil, nil, nil), (#"{"a":1}"#, nil, nil, nil, nil),
            ("1e30", nil, 1e30, nil, "1e+30"),
            ("9007199254740993.5", 9_007_199_254_740_993, 9_007_199_254_740_993.5, nil, "9007199254740993.5"),
            (#""9007199254740993.5""#, 9_007_199_254_740_993, 9_007_199_254_740_993.5, nil, "9007199254740993.5"),
            ("-9223372036854775807.9", -.max, -9_223_372_036_854_775_807.9, nil, "-9223372036854775807.9"),
            ("9223372036854775807.5", .max, 9_223_372_036_854_775_807.5, nil, "9223372036854775807.5"),
            ("-0.9", 0, -0.9, nil, "-0.9"),
            ("9223372036854775808", nil, 9_223_372_036_854_775_808, nil, "9223372036854775808"),
        ] as [(String, Int?, Double?, Bool?, String?)]
    )
    func lenient(json: String, int: Int?, double: Double?, bool: Bool?, string: String?) throws {
        let lenient = try JSONValue(parsing: json).lenient
        #expect(lenient.int == int)
        #expect(lenient.double == double)
        #expect(lenient.decimal == lenient.number?.decimal)
        #expect((lenient.decimal == nil) == (double == nil))
        if bool != nil || double == nil { #expect(lenient.bool == bool) }
        #expect(lenient.string == string)
    }

    @Test("Setting by key, index and dynamic member builds and changes values")
    func setting() {
        var json: JSONValue = nil
        json.user.name = "Ann"
        json["user"]["tags"] = ["a"]
        json.user.tags[0] = "b"
        json.user.tags[1] = "c"
        json.user.tags[5] = "no such place"
        json.user.tags[-1] = "no such place"
        json.user.name["first"] = "a text has no keys"
        #expect(json == ["user": ["name": "Ann", "tags": ["b", "c"]]])
        json.object?["user"] = nil
        #expect(json == [:])
        json.object = nil
        #expect(json == .null)
    }

    @Test("Members keep their order, which does not count when objects are compared")
    func order() {
        var object: JSONObject = ["b": 1, "a": 2]
        object["c"] = 3
        object["b"] = 4
        #expect(object.keys == ["b", "a", "c"])
        #expect(object.map(\.value) == [4, 2, 3])
        #expect(object == ["a": 2, "c": 3, "b": 4])
        #expect(object != ["a": 2, "c": 3, "d": 4])
        #expect(object != ["a": 2, "c": 3])
        object["a"] = nil
        #expect(object.map(\.key) == ["b", "c"])
        #expect(JSONValue.object(object).description == #"{"b":4,"c":3}"#)
        #expect(JSONValue.object(["x": 1, "x": 2]) == ["x": 2])
    }

    @Test("A large object finds, replaces and removes its members")
    func largeObject() {
        var object = JSONObject((0..<500).map { (key: "k\($0)", value: JSONValue($0)) })
        for number in stride(from: 0, to: 500, by: 2) { object["k\(number)"] = nil }
        object["k1"] = "one"
        object["new"] = true
        #expect(object.count == 251)
        #expect(object["k1"] == "one")
        #expect(object["k499"] == 499)
        #expect((0..<250).allSatisfy { object["k\($0 * 2 + 1)"] == ($0 == 0 ? "one" : JSONValue($0 * 2 + 1)) })
        #expect(object["k498"] == nil)
        #expect(object.last?.key == "new")
        for key in object.keys.dropLast(3) { object[key] = nil }
        #expect(object == ["k497": 497, "k499": 499, "new": true])
        #expect(object["k1"] == nil)
        object["k1"] = "again"
        #expect(object["k1"] == "again")
    }

    @Test("Text is written compact, or sorted and in lines")
    func writing() {
        let json: JSONValue = ["b": [1, []], "a": ["x": nil, "é/\"": nil]]
        #expect(json.description == #"{"b":[1,[]],"a":{"x":null,"é/\"":null}}"#)
        let lines = """
            {
              "a" : {
                "x" : null,
                "é/\\"" : null
              },
              "b" : [
                1,
                []
              ]
            }
            """
        #expect(String(decoding: json.jsonData(sortedKeys: true, pretty: true), as: UTF8.self) == lines)
    }

    @Test("Swift's values make JSON values, and what JSON has no number for is null")
    func making() {
        #expect(JSONValue("a") == "a")
        #expect(JSONValue(7) == 7)
        #expect(JSONValue(0.5) == 0.5)
        #expect(JSONValue(3.0) == 3)
        #expect(JSONValue(-3.0) == -3)
        #expect(JSONValue(-0.0).description == "-0")
        #expect(JSONValue(Double.nan) == nil)
        #expect(JSONValue(Decimal(sign: .plus, exponent: -1, significand: 1)) == 0.1)
        #expect(JSONValue(Decimal.nan) == nil)
        let name = "Ann"
        #expect("Hello \(name)" as JSONValue == "Hello Ann")
    }
}

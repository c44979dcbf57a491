// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("JSON values as parameters", .throttled)
struct JSONValueParameterTests {
    private static let wide = JSONNumber(text: "12345678901234567890123.5") ?? 0
    private static let all: JSONValue = [
        "text": "a b", "flag": true, "whole": -7, "part": 1.5, "none": nil, "list": [1, "x", [false]],
        "inner": ["z": 1, "a": ["deep": nil]], "wide": .number(wide), "large": .number(JSONNumber(UInt64.max)),
    ]

    @Test("In JSON they are what they were, keys sorted at every level")
    func json() throws {
        let data = try JSONEncoding().data(["v": Self.all])
        #expect(try JSONValue(parsing: data)["v"] == Self.all)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.hasPrefix(#"{"v":{"flag":true,"inner":{"a":{"deep":null},"z":1},"large":18446744073709551615,"#))
        #expect(text.hasSuffix(#""none":null,"part":1.5,"text":"a b","whole":-7,"wide":12345678901234567890123.5}}"#))
    }

    @Test("Unsorted, their own order stays")
    func unsorted() throws {
        let value: JSONValue = ["z": 1, "a": ["y": 2, "b": 3]]
        let data = try JSONEncoding(sortedKeys: false).data(["v": value])
        #expect(String(decoding: data, as: UTF8.self) == #"{"v":{"z":1,"a":{"y":2,"b":3}}}"#)
    }

    @Test(
        "In a query and in a form they are written as the Swift values they stand for",
        arguments: [
            ("a b", "v=a%20b"), (true, "v=1"), (-7, "v=-7"), (1.5, "v=1.5"), (nil, "v="),
            ([1, "x"], "v%5B%5D=1&v%5B%5D=x"),
            (["b": 1, "a": ["c": "d"]], "v%5Ba%5D%5Bc%5D=d&v%5Bb%5D=1"), ([], ""), ([:], ""),
        ] as [(JSONValue, String)]
    )
    func forms(value: JSONValue, text: String) throws {
        #expect(try URLEncoding().queryString(["v": value]) == text)
        var request = URLRequest(url: .example)
        request.httpMethod = "POST"
        let body = try URLEncoding(destination: .body).encode(["v": value], into: request).httpBody
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test("Wherever they stand: in arrays, dictionaries, optionals, and numbers and objects by themselves")
    func places() throws {
        let one: JSONValue = 1
        let encoding = JSONEncoding()
        func text(_ value: some Sendable) throws -> String {
            String(decoding: try encoding.data(["v": value]), as: UTF8.self)
        }
        #expect(try text([one, "x"]) == #"{"v":[1,"x"]}"#)
        #expect(try text(["a": one]) == #"{"v":{"a":1}}"#)
        #expect(try text([one] as [any Sendable]) == #"{"v":[1]}"#)
        #expect(try text(Optional(one)) == #"{"v":1}"#)
        #expect(try text(JSONValue?.none) == #"{"v":null}"#)
        #expect(try text(Self.wide) == #"{"v":12345678901234567890123.5}"#)
        #expect(try text(JSONObject([(key: "b", value: one), (key: "a", value: nil)])) == #"{"v":{"a":null,"b":1}}"#)
        let parameters: [String: any Sendable] = ["v": one]
        let target = TestTarget(.example).with {
            $0.method = .post
            $0.task = .parameters(parameters, encoding: .json)
        }
        #expect(try Endpoint(target: target).urlRequest().httpBody == Data(#"{"v":1}"#.utf8))
    }

    @Test("One that is nested too deep is an error that says where")
    func tooDeep() throws {
        var value: JSONValue = 1
        for _ in 0..<600 { value = [value] }
        let error = try #require(throws: ParameterEncodingError.self) { try JSONEncoding().data(["v": value]) }
        #expect(error.reason == .tooDeep)
        #expect(error.keyPath.hasPrefix("v[0][0]"))
        #expect(throws: ParameterEncodingError.self) { try URLEncoding().queryString(["v": value]) }
    }

    @Test("Random values come back from their JSON")
    func random() throws {
        var random = RandomValues(seed: 6_011)
        for _ in 0..<1_000 {
            let value = random.json(depth: 0)
            #expect(try JSONValue(parsing: JSONEncoding().data(["v": value]))["v"] == value)
        }
    }
}

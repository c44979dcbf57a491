// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Values out of a response", .throttled)
struct ResponseValueTests {
    struct User: Codable, Equatable, Sendable { var name: String }

    struct Options: Decodable, Equatable { var limit: Int? }

    struct Failure: Error {}

    @Test(
        "JSON is read where the key path says",
        arguments: [
            (#"{"a":[1,2]}"#, nil, ["a": [1, 2]]), (#"{"a":[1,2]}"#, "", ["a": [1, 2]]),
            (#"{"a":[1,2]}"#, "a", [1, 2]),
            (#"{"a":[1,{"b.c":"x"}]}"#, #"a.1.b\.c"#, "x"), ("[[0,1],[2]]", "0.1", 1), (#"{"0":"x"}"#, "0", "x"),
            (#"{"a":null}"#, "a", nil), ("7", nil, 7), (#"{"a\\b":1}"#, #"a\\b"#, 1), (#"{"":{"":2}}"#, ".", 2),
        ] as [(String, String?, JSONValue)]
    )
    func json(body: String, keyPath: String?, value: JSONValue) throws {
        let response = Response(statusCode: 200, data: Data(body.utf8))
        #expect(try response.json(atKeyPath: keyPath) == value)
        #expect(try response.decode(JSONValue.self, atKeyPath: keyPath) == value)
    }

    @Test(
        "A body that is not JSON, and a key path that leads nowhere, are errors of stage decoding with the response",
        arguments: [
            ("", nil), ("{", nil), ("<html>", nil), ("[1,]", nil), ("{}", "a"), ("[1]", "1"), ("[1]", "+0"),
            (#"{"a":[1,]}"#, "a"),
        ]
            as [(String, String?)]
    )
    func wrongJSON(body: String, keyPath: String?) throws {
        let response = Response(statusCode: 502, data: Data(body.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.json(atKeyPath: keyPath) }
        #expect(error.stage == .decoding)
        #expect(error.response?.statusCode == 502)
        #expect(throws: TargetKitError.self) { try response.decode(JSONValue.self, atKeyPath: keyPath) }
    }

    @Test("An index beyond the end of an array is reported as missing in that array", arguments: ["1", "7"])
    func indexBeyondEnd(index: String) throws {
        let response = Response(statusCode: 200, data: Data(#"{"a":[1]}"#.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.json(atKeyPath: "a.\(index)") }
        guard case DecodingError.keyNotFound(let key, let context)? = error.underlying else { throw Failure() }
        #expect(key.stringValue == index)
        #expect(context.codingPath.map(\.stringValue) == ["a"])
    }

    @Test("Objects, arrays and dictionaries of dynamic values are decoded, and what is of another kind is an error")
    func dynamicTypes() throws {
        let response = Response(statusCode: 200, data: Data(#"{"b":[1,null],"a":{"x":"y"}}"#.utf8))
        #expect(try response.decode(JSONObject.self).keys == ["b", "a"])
        #expect(try response.decode([String: JSONValue].self) == ["b": [1, nil], "a": ["x": "y"]])
        #expect(try response.decode([JSONValue].self, atKeyPath: "b") == [1, nil])
        for keyPath in ["b", "a"] {
            let error = try #require(throws: TargetKitError.self) {
                if keyPath == "b" { _ = try response.decode(JSONObject.self, atKeyPath: keyPath) }
                _ = try response.decode([JSONValue].self, atKeyPath: keyPath)
            }
            #expect(error.underlying is DecodingError)
        }
    }

    @Test("A key path leads to the same value in the bytes and in the parsed value")
    func sameWay() throws {
        var random = RandomValues(seed: 6_006)
        for _ in 0..<2_000 {
            let json = random.json(depth: 0)
            var (value, keys) = (json, [String]())
            while let member = value.object?.randomElement(using: &random) {
                (value, keys) = (member.value, keys + [member.key])
            }
            let escaped = keys.map { $0.replacing(#"\"#, with: #"\\"#).replacing(".", with: #"\."#) }
            let path = escaped.joined(separator: ".")
            let response = Response(statusCode: 200, data: json.jsonData())
            guard !path.isEmpty else { continue }
            #expect(try response.json(atKeyPath: path) == value)
            #expect(json[path: path] == value)
        }
    }

    @Test("Random bytes under random key paths are values or errors, never a trap")
    func randomBytes() {
        var random = RandomValues(seed: 6_007)
        let alphabet = Array("[]{}\":,\\u0a1. \n".utf8) + [0xFF]
        var errors = 0
        for _ in 0..<RandomValues.count {
            let bytes = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                alphabet[Int(random.next() % UInt64(alphabet.count))]
            }
            let keyPath = ["0", "a", "a.0", "1.a", ".", #"\"#, #"a\.a"#].randomElement(using: &random)
            let response = Response(statusCode: 200, data: Data(bytes))
            if (try? response.json(atKeyPath: keyPath)) == nil { errors += 1 }
        }
        #expect(errors > RandomValues.count / 2)
    }

    @Test("An error about the JSON says where it is broken, and nothing of the body")
    func errorText() throws {
        let response = Response(statusCode: 200, data: Data(#"{"token":"secret",}"#.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.json() }
        #expect(error.description.contains("byte 18: expected a key in quotes"))
        #expect(!error.description.contains("secret"))
    }

    @Test("Limits hold for a response's JSON")
    func limits() {
        let response = Response(statusCode: 200, data: Data("[[[]]]".utf8))
        #expect(throws: Never.self) { try response.json() }
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: TargetKitError.self) { try Response(statusCode: 200, data: Data(deep.utf8)).json() }
        #expect(throws: TargetKitError.self) {
            try Response(statusCode: 200, data: Data(#"{"a":\#(deep)}"#.utf8)).json(atKeyPath: "a")
        }
    }

    @Test("An empty body is the empty value of its type when asked for, with and without a key path")
    func empty() throws {
        let response = Response(statusCode: 204)
        for keyPath in [nil, "data"] {
            #expect(try response.json(atKeyPath: keyPath, failsOnEmptyData: false) == nil)
            #expect(try response.decode([User].self, atKeyPath: keyPath, failsOnEmptyData: false) == [])
            #expect(try response.decode([String: Int].self, atKeyPath: keyPath, failsOnEmptyData: false) == [:])
            #expect(
                try response.decode(Options.self, atKeyPath: keyPath, failsOnEmptyData: false) == Options(limit: nil)
            )
            #expect(throws: TargetKitError.self) {
                try response.decode(Int.self, atKeyPath: keyPath, failsOnEmptyData: false)
            }
        }
        #expect(throws: TargetKitError.self) { try response.json() }
        let space = Response(statusCode: 200, data: Data(" ".utf8))
        #expect(throws: TargetKitError.self) { try space.decode([Int].self, failsOnEmptyData: false) }
    }

    @Test("A text at a key path must be a text")
    func texts() throws {
        let response = Response(statusCode: 200, data: Data(#"{"a":{"t":"é\n"},"n":1}"#.utf8))
        #expect(try response.string(atKeyPath: "a.t") == "é\n")
        #expect(try response.string(atKeyPath: "") == #"{"a":{"t":"é\n"},"n":1}"#)
        for keyPath in ["n", "a", "x", "a.t.x"] {
            let error = try #require(throws: TargetKitError.self) { try response.string(atKeyPath: keyPath) }
            #expect(error.stage == .decoding)
        }
    }

    @Test(
        "Text in the encodings of China, Taiwan and Korea is read",
        arguments: [
            ([0xC4, 0xE3], "gbk", "你"), ([0xC4, 0xE3], "GB2312", "你"), ([0xC4, 0xE3], "gb18030", "你"),
            ([0xA7, 0x41], "big5", "你"), ([0xB0, 0xA1], "euc-kr", "가"),
        ] as [([UInt8], String, String)]
    )
    func eastAsian(bytes: [UInt8], charset: String, text: String) throws {
        let headers: HTTPHeaders = ["Content-Type": "text/html; charset=\(charset)"]
        #expect(try Response(statusCode: 200, data: Data(bytes), headers: headers).string() == text)
    }

    @Test(
        "A status filter lets through its range only, both ends included",
        arguments: [
            (199, false, false), (200, true, true), (299, true, true), (300, false, true), (399, false, true),
            (400, false, false),
        ]
    )
    func filters(status: Int, isSuccess: Bool, isSuccessOrRedirect: Bool) {
        let response = Response(statusCode: status)
        #expect(((try? response.filter()) != nil) == isSuccess)
        #expect(((try? response.filter(.successAndRedirectCodes)) != nil) == isSuccessOrRedirect)
        #expect(((try? response.filter(.codes(200...299))) != nil) == isSuccess)
        #expect(((try? response.filter(.codes(200..<300))) != nil) == isSuccess)
        #expect(((try? response.filter(.codes([300]))) != nil) == (status == 300))
    }
}

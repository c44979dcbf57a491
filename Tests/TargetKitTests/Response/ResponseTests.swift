// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("Response", .throttled)
struct ResponseTests {
    struct User: Decodable, Sendable, Equatable { var name: String }

    struct Nothing: Decodable, Equatable {}

    @Test("Filters let through what they name and hold the response in their error")
    func filters() throws {
        let found = Response(statusCode: 302, data: Data("x".utf8))
        #expect(try found.filter(.successAndRedirectCodes).statusCode == 302)
        #expect(try found.filter(.codes(300...303)).statusCode == 302)
        #expect(try found.filter(.codes([302])).statusCode == 302)
        #expect(try found.filter(.codes([200, 302])).statusCode == 302)
        let error = try #require(throws: TargetKitError.self) { try found.filter() }
        #expect(error.stage == .status)
        #expect(error.response?.data == Data("x".utf8))
    }

    @Test(
        "A value is decoded where the key path says",
        arguments: [
            (#"{"name":"a"}"#, nil), (#"{"name":"a"}"#, ""), (#"{"data":{"user":{"name":"a"}}}"#, "data.user"),
            (#"{"list":[{"name":"x"},{"name":"a"}]}"#, "list.1"), (#"[{"name":"a"}]"#, "0"),
            (#"{"a.b":{"name":"a"}}"#, #"a\.b"#), (#" { "x" : [ 1 , "]}" , {} ] , "data" : {"name":"a"} } "#, "data"),
            (#"{"q\"{":1,"é":{"name":"a"}}"#, "é"), (#"{"data":{"name":"a"}}"#, "data"),
        ] as [(String, String?)]
    )
    func keyPaths(json: String, keyPath: String?) throws {
        let response = Response(statusCode: 200, data: Data(json.utf8))
        #expect(try response.decode(User.self, atKeyPath: keyPath) == User(name: "a"))
    }

    @Test("JSON is read after a byte order mark", arguments: [nil, "", "data", "data.list.1"] as [String?])
    func byteOrderMark(keyPath: String?) throws {
        let json: [String?: String] = [nil: #"{"name":"a"}"#, "": #"{"name":"a"}"#]
        let text = json[keyPath] ?? #"{"code":0,"data":{"name":"a","list":[0,{"name":"a"}]}}"#
        let response = Response(statusCode: 200, data: Data("\u{FEFF}".utf8) + Data(text.utf8))
        #expect(try response.decode(User.self, atKeyPath: keyPath) == User(name: "a"))
        #expect(try response.json(atKeyPath: keyPath).name.string == "a")
        guard keyPath == "data" else { return }
        #expect(try response.unwrap(User.self, from: CodeMessageData()) == User(name: "a"))
    }

    @Test("A scalar at a key path decodes")
    func scalars() throws {
        let response = Response(statusCode: 200, data: Data(#"{"n":7,"s":"x","b":true,"z":null,"d":-1.5e3}"#.utf8))
        #expect(try response.decode(Int.self, atKeyPath: "n") == 7)
        #expect(try response.decode(String.self, atKeyPath: "s") == "x")
        #expect(try response.decode(Bool.self, atKeyPath: "b"))
        #expect(try response.decode(Int?.self, atKeyPath: "z") == nil)
        #expect(try response.decode(Double.self, atKeyPath: "d") == -1500)
    }

    @Test(
        "A key path that leads nowhere, and JSON that is broken, are errors of stage decoding with the response",
        arguments: [
            (#"{"data":1}"#, "other"), (#"{"data":1}"#, "data.x"), (#"[1]"#, "1"), (#"[1]"#, "-1"), (#"[1]"#, "x"),
            ("", "a"),
            ("{", "a"), (#"{"a"#, "a"), (#"{"a":"#, "a"), (#"{"a" 1}"#, "a"), ("[1,", "1"), ("]", "0"),
            (#"{"a":}"#, "a"),
            (#"{"b":[1,2,"a":{"name":"a"}}"#, "a"), ("null", "a"),
        ]
    )
    func wrongPaths(json: String, keyPath: String) throws {
        let response = Response(statusCode: 200, data: Data(json.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.decode(User.self, atKeyPath: keyPath) }
        #expect(error.stage == .decoding)
        #expect(error.response?.data.count == json.utf8.count)
        #expect(error.underlying is DecodingError)
    }

    @Test("An empty body decodes to the empty value when asked for, else it is an error")
    func emptyBody() throws {
        let empty = Response(statusCode: 204)
        #expect(try empty.decode(Nothing.self, failsOnEmptyData: false) == Nothing())
        #expect(try empty.decode([Int].self, failsOnEmptyData: false) == [])
        #expect(throws: TargetKitError.self) { try empty.decode(Nothing.self) }
        #expect(throws: TargetKitError.self) { try empty.decode(User.self, failsOnEmptyData: false) }
    }

    @Test("Deep nesting around a key path is no danger")
    func deepNesting() throws {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let response = Response(statusCode: 200, data: Data(#"{"x":\#(deep),"n":7}"#.utf8))
        #expect(try response.decode(Int.self, atKeyPath: "n") == 7)
    }

    @Test("Header lines are read as they came: folded, repeated, with octets that aren't UTF-8, without a colon")
    func headerLines() {
        var lines = Array(
            "Content-Type:text/plain\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Long: one\r\n two\r\nbroken\r\n".utf8
        )
        lines += Array("X-Latin: caf".utf8) + [0xE9, 0x0D, 0x0A]
        let headers = ResponseHead(statusCode: 200, headerLines: lines).headers
        #expect(headers["content-type"] == "text/plain")
        #expect(headers.values(for: .setCookie) == ["a=1", "b=2"])
        #expect(headers["X-Long"] == "one two")
        #expect(headers["X-Latin"] == "caf\u{F7E9}")
        #expect(headers.text(for: "X-Latin") == "café")
        #expect(headers.count == 5)
    }
}

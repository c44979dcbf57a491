// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

/// Bodies of every kind as httpbin reads them.
@Suite("httpbin: bodies", .throttled, .needs(.httpbin), .timeLimit(.minutes(2)))
struct BodyTests {
    @Test("Bytes arrive as they are, with the type that was named or none", arguments: Engine.allCases)
    func data(engine: Engine) async throws {
        let bytes = Data((0...255).map { UInt8($0) })
        let task = HTTPTask.data(bytes, contentType: "application/octet-stream")
        let echo = try await engine.echo(of: .httpbin(.post, "/post", task).asAnything)
        #expect(echo.data == "data:application/octet-stream;base64," + bytes.base64EncodedString())
        #expect(echo.headers["Content-Type"] == "application/octet-stream")
        #expect(echo.headers["Content-Length"] == "256")
        let empty = try await engine.echo(of: .httpbin(.post, "/anything", .data(Data(), contentType: "text/plain")))
        #expect(empty.headers["Content-Length"] == "0")
        #expect(empty.headers["Content-Type"] == "text/plain")
    }

    @Test("Bytes without a type are sent without one", arguments: Engine.allCases)
    func dataWithoutType(engine: Engine) async throws {
        let echo = try await engine.echo(of: .httpbin(.post, "/anything", .data(Data("a=b".utf8))))
        #expect(echo.headers["Content-Type"] == nil)
        #expect(echo.data == "a=b")
        #expect(echo.form.isEmpty)
    }

    @Test("An Encodable as JSON is read as the same value", arguments: Engine.allCases)
    func json(engine: Engine) async throws {
        struct Order: Codable, Sendable, Equatable {
            var lines = Awkward.texts
            var count = Int64.max
            var price = 1.1
            var gift: Bool? = true
            var note: String?
        }
        let response = try await engine.response(to: .httpbin(.post, "/post", .json(Order())))
        #expect(try response.decode(Order.self, atKeyPath: "json") == Order())
        let headers = try response.decode([String: String].self, atKeyPath: "headers")
        #expect(headers["Content-Type"] == "application/json")
    }

    @Test("The type that the headers name stays", arguments: Engine.allCases)
    func ownType(engine: Engine) async throws {
        let call = ServerCall.httpbin(.post, "/anything", .json(["a": 1])).with {
            $0.headers = ["content-type": "application/vnd.tea+json"]
        }
        let echo = try await engine.echo(of: call)
        #expect(echo.headers["Content-Type"] == "application/vnd.tea+json")
        #expect(echo.data == #"{"a":1}"#)
    }

    @Test("Parameters as JSON are read as the same values", arguments: Engine.allCases)
    func parametersAsJSON(engine: Engine) async throws {
        struct Received: Decodable, Equatable {
            var texts: [String: String]
            var whole: Int
            var part: Double
            var flag: Bool
            var list: [Int]
            var null: String?
        }
        let values: [String: any Sendable] = [
            "texts": Awkward.texts, "whole": Int.min, "part": 0.1, "flag": false, "list": [1, 2, 3], "null": NSNull(),
        ]
        let expected = Received(texts: Awkward.texts, whole: .min, part: 0.1, flag: false, list: [1, 2, 3])
        for encoding in [JSONEncoding.json, JSONEncoding(pretty: true)] {
            let call = ServerCall.httpbin(.put, "/put", .parameters(values, encoding: encoding))
            #expect(try await engine.response(to: call).decode(Received.self, atKeyPath: "json") == expected)
        }
    }

    @Test("Parameters go where their encoding says", arguments: Engine.allCases)
    func parameters(engine: Engine) async throws {
        let values: [String: any Sendable] = Dictionary(uniqueKeysWithValues: Awkward.names.map { ($0, $0) })
        let expected = Dictionary(uniqueKeysWithValues: Awkward.names.map { ($0, Echo.Values($0)) })
        for encoding in [URLEncoding.url, .form, URLEncoding(encodesSpacesAsPlus: true)] {
            let echo = try await engine.echo(of: .httpbin(.post, "/anything", .parameters(values, encoding: encoding)))
            #expect(echo.form == expected)
            #expect(echo.args.isEmpty)
            #expect(echo.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
        }
        let query = try await engine.echo(of: .httpbin(.post, "/anything", .parameters(values, encoding: .query)))
        #expect(query.args == expected)
        #expect(query.form.isEmpty)
        let both = HTTPTask.parameters(["a": 1], encoding: .query).parameters(["b": 2], encoding: .json)
        let echo = try await engine.echo(of: .httpbin(.patch, "/anything", both))
        #expect(echo.args == ["a": "1"])
        #expect(echo.data == #"{"b":2}"#)
    }

    @Test("Forms of a dictionary and of an Encodable are read", arguments: Engine.allCases)
    func forms(engine: Engine) async throws {
        struct Order: Encodable, Sendable {
            var name = "汉字 & \"tea\"\r\n"
            var amounts = [1, 2]
            var address = ["city": "Köln"]
        }
        let encodable = try await engine.echo(of: .httpbin(.post, "/anything", .form(Order())))
        #expect(encodable.form == ["name": "汉字 & \"tea\"\r\n", "amounts[]": ["1", "2"], "address[city]": "Köln"])
        let dictionary = try await engine.echo(of: .httpbin(.post, "/anything", .form(["a b": "c+d", "e": [1.5]])))
        #expect(dictionary.form == ["a b": "c+d", "e[]": "1.5"])
        let other = try await engine.echo(of: .httpbin(.post, "/anything", .form(["a": "🫖", "": "nameless"])))
        #expect(other.form == ["a": "🫖", "": "nameless"])
    }

    @Test("A file is the body, with its length and its type", arguments: Engine.allCases)
    func file(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "汉字 \"tea\"\r\n", count: 20_000)
        let file = try folder.file("notes.txt", Data(text.utf8))
        let echo = try await engine.echo(of: .httpbin(.put, "/anything", .upload(file: file)))
        #expect(echo.data == text)
        #expect(echo.headers["Content-Length"] == String(text.utf8.count))
        #expect(echo.headers["Content-Type"] == "text/plain")
        let empty = try folder.file("empty.json")
        let nothing = try await engine.echo(of: .httpbin(.post, "/anything", .upload(file: empty)))
        #expect(nothing.data == "")
        #expect(nothing.headers["Content-Length"] == "0")
    }
}

extension ServerCall {
    /// `/post` answers without the method, which an ``Echo`` has.
    fileprivate var asAnything: ServerCall { with { $0.path = "/anything" } }
}

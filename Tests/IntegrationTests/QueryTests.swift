// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

/// Queries as real servers read them.
@Suite("httpbin and nginx: queries", .throttled, .needs(.httpbin), .needs(.nginx), .timeLimit(.minutes(2)))
struct QueryTests {
    @Test("Awkward names and values are read as they were", arguments: Engine.allCases)
    func awkward(engine: Engine) async throws {
        let pairs = Dictionary(uniqueKeysWithValues: Awkward.names.map { ($0, String($0.reversed())) })
        let echo = try await engine.echo(
            of: .httpbin(.get, "/anything", .query(pairs.mapValues { $0 as any Sendable }))
        )
        #expect(echo.args == pairs.mapValues { Echo.Values($0) })
    }

    @Test("Values of every type are read as documented", arguments: Engine.allCases)
    func types(engine: Engine) async throws {
        let values: [String: any Sendable] = [
            "int": -7, "wide": UInt64.max, "whole": 1.0, "part": 1.5, "yes": true, "no": false, "text": "a b",
            "list": ["x", "y"], "map": ["k": "v", "deep": ["z": 1]] as [String: any Sendable],
            "when": Date(timeIntervalSince1970: 1.5), "bytes": Data([0xFB, 0xFF]), "null": NSNull(),
            "uuid": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
            "none": String?.none as any Sendable,
        ]
        let expected: [String: Echo.Values] = [
            "int": "-7", "wide": "18446744073709551615", "whole": "1", "part": "1.5", "yes": "1", "no": "0",
            "text": "a b",
            "list[]": ["x", "y"], "map[k]": "v", "map[deep][z]": "1", "when": "1.5", "bytes": "+/8=", "null": "",
            "uuid": "01020304-0506-0708-090A-0B0C0D0E0F10",
        ]
        #expect(try await engine.echo(of: .httpbin(.get, "/anything", .query(values))).args == expected)
        #expect(try await engine.echo(of: .httpbin(.get, "/anything", .parameters(values))).args == expected)
        #expect(try await engine.echo(of: .httpbin(.delete, "/anything", .parameters(values))).args == expected)
    }

    @Test("Arrays, Bools and spaces are written as asked", arguments: Engine.allCases)
    func options(engine: Engine) async throws {
        let values: [String: any Sendable] = ["list": ["a", "b"], "flag": true, "text": "x y"]
        func query(_ encoding: URLEncoding) async throws -> Substring {
            try await engine.lines(of: .nginx(.get, "/echo", .parameters(values, encoding: encoding))).query
        }
        #expect(try await query(.query) == "flag=1&list%5B%5D=a&list%5B%5D=b&text=x%20y")
        #expect(try await query(URLEncoding(arrays: .plain)) == "flag=1&list=a&list=b&text=x%20y")
        #expect(try await query(URLEncoding(arrays: .indexed)) == "flag=1&list%5B0%5D=a&list%5B1%5D=b&text=x%20y")
        let own = URLEncoding(
            arrays: .indexed,
            bools: .literal,
            encodesSpacesAsPlus: true
        )
        #expect(try await query(own) == "flag=true&list%5B0%5D=a&list%5B1%5D=b&text=x+y")
        let echo = try await engine.echo(of: .httpbin(.get, "/anything", .parameters(values, encoding: own)))
        #expect(echo.args == ["flag": "true", "list[0]": "a", "list[1]": "b", "text": "x y"])
    }

    @Test("A query in the path keeps its order and its repeated names", arguments: Engine.allCases)
    func ordered(engine: Engine) async throws {
        let lines = try await engine.lines(of: .nginx(.get, "/echo?z=1&a=\("2")&z=3&汉=\("字")"))
        #expect(lines.query == "z=1&a=2&z=3&%E6%B1%89=%E5%AD%97")
        let echo = try await engine.echo(of: .httpbin(.get, "/anything?z=1&a=\("2")&z=3&汉=\("字")"))
        #expect(echo.args == ["z": ["1", "3"], "a": "2", "汉": "字"])
    }

    @Test("The fields of an Encodable are a query", arguments: Engine.allCases)
    func encodable(engine: Engine) async throws {
        struct Search: Encodable, Sendable {
            var text = #"green "tea" & 汉字"#
            var tags = ["x", "y"]
            var exact = true
            var missing: String?
        }
        let echo = try await engine.echo(of: .httpbin(.get, "/anything", .query(Search())))
        #expect(echo.args == ["text": #"green "tea" & 汉字"#, "tags[]": ["x", "y"], "exact": "1"])
    }

    @Test(
        "The queries of base URL, path and task follow one another, and a body goes beside them",
        arguments: Engine.allCases
    )
    func composed(engine: Engine) async throws {
        let base = try #require(URL(string: "?key=a%2Bb", relativeTo: ServerAvailability.nginx.baseURL)?.absoluteURL)
        let task = HTTPTask.query(["page": 1]).parameters(["sort": "up"])
        var call = ServerCall.nginx(.get, "/echo?fixed=1", task)
        call.baseURL = base
        #expect(try await engine.lines(of: call).query == "key=a%2Bb&fixed=1&page=1&sort=up")
        let body = HTTPTask.json(["name": "tea"]).query(["dry": true])
        let echo = try await engine.echo(of: .httpbin(.post, "/anything?x=1", body))
        #expect(echo.args == ["x": "1", "dry": "1"])
        #expect(echo.data == #"{"name":"tea"}"#)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

/// Methods, paths and header fields as real servers read them.
@Suite(
    "httpbin and nginx: methods, paths, header fields",
    .throttled,
    .needs(.httpbin),
    .needs(.nginx),
    .timeLimit(.minutes(2))
)
struct MethodTests {
    @Test("Every method arrives as it was written", arguments: Engine.allCases)
    func methods(engine: Engine) async throws {
        for method in [HTTPMethod.get, .post, .put, .patch, .delete, .trace] {
            let echo = try await engine.echo(of: .httpbin(method, "/anything"))
            #expect(echo.method == method.rawValue)
        }
        for method in [HTTPMethod.options, .query, "PROPFIND", "X-OWN"] {
            let lines = try await engine.lines(of: .nginx(method, "/echo"))
            #expect(lines.method == method.rawValue)
        }
    }

    @Test("HEAD brings the head of what GET brings, and no body", arguments: Engine.allCases)
    func head(engine: Engine) async throws {
        let head = try await engine.response(to: .httpbin(.head, "/bytes/1000"))
        #expect(head.statusCode == 200)
        #expect(head.data.isEmpty)
        #expect(head.headers["Content-Length"] == "1000")
        // The connection is good for another call: nothing of a body is waited for.
        let next = try await engine.response(to: .httpbin(.get, "/bytes/10"))
        #expect(next.data.count == 10)
    }

    @Test("A method with a body brings it", arguments: Engine.allCases, [HTTPMethod.post, .put, .patch, .delete])
    func bodies(engine: Engine, method: HTTPMethod) async throws {
        let echo = try await engine.echo(
            of: .httpbin(method, "/anything", .data(Data("tea".utf8), contentType: "text/plain"))
        )
        #expect(echo.method == method.rawValue)
        #expect(echo.data == "tea")
        #expect(echo.headers["Content-Length"] == "3")
    }

    @Test("POST, PUT and PATCH without a body say that it has no bytes", arguments: Engine.allCases)
    func emptyBodies(engine: Engine) async throws {
        for method in [HTTPMethod.post, .put, .patch] {
            let echo = try await engine.echo(of: .httpbin(method, "/anything"))
            #expect(echo.headers["Content-Length"] == "0")
            #expect(echo.data == "")
        }
    }

    @Test("What is interpolated stays in its segment, and is read as it was", arguments: Engine.allCases)
    func segments(engine: Engine) async throws {
        for name in Awkward.names + ["a/../b?c", "100%", "%2F", "..."] {
            let lines = try await engine.lines(of: .nginx(.get, "/echo/\(name)"))
            let segment = try #require(lines.target.split(separator: "/").last)
            #expect(lines.target.split(separator: "/").count == 2)
            #expect(segment.removingPercentEncoding == name)
            #expect(segment.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            #expect(lines.query.isEmpty)
        }
    }

    @Test("nginx unescapes a path to what was written", arguments: Engine.allCases)
    func unescaped(engine: Engine) async throws {
        for name in ["汉字", "🫖", "two\r\nlines", #"a "b""#, "50% off", "a+b;c=d,e@f:g", "a?b#c"] {
            let lines = try await engine.lines(of: .nginx(.get, "/echo/\(name)/end"))
            #expect(lines.path == "/echo/\(name)/end")
        }
    }

    @Test("The literal's own path arrives as it stands, with its query", arguments: Engine.allCases)
    func literals(engine: Engine) async throws {
        let lines = try await engine.lines(of: .nginx(.get, "/echo/a%2Fb/汉?x=%31&y=a+b", .query(["z": "1 2"])))
        #expect(lines.target == "/echo/a%2Fb/%E6%B1%89?x=%31&y=a+b&z=1%202")
    }

    @Test("Header fields arrive, empty ones and long ones too", arguments: Engine.allCases)
    func headers(engine: Engine) async throws {
        let long = String(repeating: "0123456789", count: 300)
        let call = ServerCall.httpbin(.get, "/anything").with {
            $0.headers = [
                "X-Plain": "tea", "X-Empty": "", "X-Marks": #"a, "b"; c=d\e"#, "X-Long": long,
                "User-Agent": "kettle/1.0",
                "Accept": "application/json", "Accept-Language": "de, en;q=0.5",
            ]
        }
        let echo = try await engine.echo(of: call)
        #expect(echo.headers["X-Plain"] == "tea")
        #expect(echo.headers["X-Empty"] == "")
        #expect(echo.headers["X-Marks"] == #"a, "b"; c=d\e"#)
        #expect(echo.headers["X-Long"] == long)
        #expect(echo.headers["User-Agent"] == "kettle/1.0")
        #expect(echo.headers["Accept"] == "application/json")
        #expect(echo.headers["Accept-Language"] == "de, en;q=0.5")
    }

    @Test("A field's value goes out in UTF-8", arguments: Engine.allCases)
    func utf8Header(engine: Engine) async throws {
        let call = ServerCall.nginx(.get, "/echo").with { $0.headers = ["X-Probe": "汉字 🫖"] }
        #expect(try await engine.lines(of: call).probe == "汉字 🫖")
    }

    @Test("Repeated fields of a response are all there", arguments: Engine.allCases)
    func repeatedFields(engine: Engine) async throws {
        let call = ServerCall.httpbin(.get, "/response-headers?X-Tea=green&X-Tea=black&X-Empty=")
        let headers = try await engine.response(to: call).headers
        #expect(headers["X-Tea"] == "green, black")
        #expect(headers["X-Empty"] == "")
        #expect(headers["x-empty"] == "")
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Redirects as nginx and httpbin send them, with an address that is relative or whole.
@Suite("httpbin and nginx: redirects", .throttled, .needs(.httpbin), .needs(.nginx), .timeLimit(.minutes(2)))
struct RedirectTests {
    @Test("A transport brings a redirect as it is", arguments: Engine.allCases, [301, 302, 303, 307, 308])
    func untouched(engine: Engine, status: Int) async throws {
        let request = try ServerCall.nginx(.get, "/redirect/\(status)").transportRequest()
        let head = try await engine.transport.send(request).head
        #expect(head.statusCode == status)
        #expect(head.headers["Location"]?.hasSuffix("/echo") == true)
    }

    @Test("301, 302 and 303 turn a POST into a GET without a body; 307 and 308 keep both", arguments: Engine.allCases)
    func methods(engine: Engine) async throws {
        for status in [301, 302, 303] {
            let call = ServerCall.nginx(.post, "/redirect/\(status)", .json(["a": 1]))
            let lines = try await engine.lines(of: call)
            #expect(lines.method == "GET")
            #expect(lines.contentType.isEmpty)
        }
        for status in [307, 308] {
            let lines = try await engine.lines(of: .nginx(.post, "/redirect/\(status)", .json(["a": 1])))
            #expect(lines.method == "POST")
            #expect(lines.contentType == "application/json")
        }
    }

    @Test("A form with a file is sent a second time, from its start", arguments: Engine.allCases)
    func form(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("up.bin", NginxFile.noise.prefix(3 << 20))
        let form = MultipartForm(parts: [.text("Holiday", name: "album"), .file(file, name: "film")])
        let length = try #require(try form.bodySource().length)
        let response = try await engine.response(to: .nginx(.post, "/redirect/sink", .multipart(form)))
        #expect(response.statusCode == 200)
        #expect(response.redirects.map(\.statusCode) == [307])
        let received = try #require(response.headers["X-Request-Length"].flatMap(Int64.init))
        #expect((length...(length + 2000)).contains(received))
    }

    @Test("Several steps are followed, ten at most, and a circle ends with an error", arguments: Engine.allCases)
    func steps(engine: Engine) async throws {
        for path: RequestPath in ["/redirect/3", "/relative-redirect/3", "/absolute-redirect/3"] {
            let response = try await engine.response(to: .httpbin(.get, path))
            #expect(response.statusCode == 200)
            #expect(response.redirects.count == 3)
            #expect(response.request?.url?.path() == "/get")
        }
        for call in [ServerCall.httpbin(.get, "/redirect/11"), .nginx(.get, "/redirect/loop")] {
            let error = await engine.failure(of: call)
            #expect(error?.stage == .transport)
            #expect(error?.kind == .badRedirect)
        }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request that the closure of ``RedirectPolicy/custom(_:)`` returns is checked like any request.
@Suite("Redirects: closures", .throttled, .timeLimit(.minutes(2)))
struct RedirectClosureTests {
    /// A change that must not be sent, and the reason.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: InvalidRequest
        let change: @Sendable (inout URLRequest) -> Void
    }

    static let refusals = [
        Refusal(testDescription: "Content-Length", reason: .reservedHeader(name: "Content-Length")) {
            $0.allHTTPHeaderFields = ["Content-Length": "0"]
        },
        Refusal(testDescription: "Transfer-Encoding", reason: .reservedHeader(name: "transfer-encoding")) {
            $0.allHTTPHeaderFields = ["transfer-encoding": "chunked"]
        },
        Refusal(testDescription: "a line break in a value", reason: .invalidHeaderValue(name: "X-A")) {
            $0.allHTTPHeaderFields = ["X-A": "1\r\nX-B: 2"]
        },
        Refusal(testDescription: "a line break in a name", reason: .invalidHeaderName("X-A\r\nX-B")) {
            $0.allHTTPHeaderFields = ["X-A\r\nX-B": "2"]
        },
        Refusal(
            testDescription: "a line break in the method",
            reason: .invalidMethod("PUT /x HTTP/1.1\r\nX-B: 2\r\nX-C:")
        ) {
            $0.httpMethod = "PUT /x HTTP/1.1\r\nX-B: 2\r\nX-C:"
        },
        Refusal(testDescription: "a body with GET", reason: .bodyNotAllowed(method: "GET")) { $0.httpMethod = "GET" },
        Refusal(testDescription: "a body with TRACE", reason: .bodyNotAllowed(method: "TRACE")) {
            $0.httpMethod = "TRACE"
        },
        Refusal(testDescription: "another scheme", reason: .unsupportedURL("ftp://h.example/")) {
            $0.url = URL(string: "ftp://h.example/")
        },
        Refusal(testDescription: "no host", reason: .unsupportedURL("https:///h.example/x")) {
            $0.url = URL(string: "https:///h.example/x")
        },
        Refusal(testDescription: "a stream as the body", reason: .bodyStream) {
            $0.httpBodyStream = InputStream(data: Data("lost".utf8))
        },
        Refusal(testDescription: "no URL", reason: .unsupportedURL("")) { $0.url = nil },
    ]

    private func redirecting(_ backend: Backend, to location: String = "/end") throws -> RunningBackend {
        try RunningBackend(backend) { request in
            request.target.hasPrefix("/start")
                ? .response(status: 307, headers: ["Location": location], data: Data())
                : .response(status: 200, data: Data("arrived".utf8))
        }
    }

    private func call(_ running: RunningBackend) -> TestTarget {
        TestTarget(running.baseURL).with {
            $0.path = "/start"
            $0.method = .post
            $0.task = .data(Data("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
            $0.headers = ["Authorization": "Bearer t", "X-Plain": "yes"]
        }
    }

    @Test("A request that is invalid at first is invalid as a redirect", arguments: refusals, Backend.allCases)
    func refused(_ refusal: Refusal, _ backend: Backend) async throws {
        let running = try redirecting(backend)
        let provider = Provider<TestTarget>(
            transport: running.transport,
            redirects: .custom { next, _ in
                var next = next
                refusal.change(&next)
                return next
            }
        )
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(call(running)) }
        #expect(error?.stage == .request)
        #expect(error?.kind == .invalidRequest)
        #expect(error?.underlying as? InvalidRequest == refusal.reason)
        #expect(running.requests.count == 1)
    }

    @Test("A redirect from https to http is refused, whether by the server or the closure", arguments: [true, false])
    func downgrade(byServer: Bool) async throws {
        let sent = Recorder<URL?>()
        let transport = StubTransport { request in
            sent.append(request.urlRequest.url)
            let location = byServer ? "http://api.example.com/end" : "/end"
            return .response(status: 307, headers: ["Location": location], data: Data())
        }
        let provider = Provider<TestTarget>(
            transport: transport,
            redirects: .custom { next, _ in
                var next = next
                if !byServer { next.url = URL(string: "http://api.example.com/end") }
                return next
            }
        )
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        #expect(error?.kind == .insecureConnection)
        #expect(sent.count == 1)
    }

    @Test("A closure can change a redirect from http back to https")
    func upgrade() async throws {
        let transport = StubTransport { request in
            request.urlRequest.url?.lastPathComponent == "end"
                ? .response(status: 200, data: Data())
                : .response(status: 307, headers: ["Location": "http://api.example.com/end"], data: Data())
        }
        let provider = Provider<TestTarget>(
            transport: transport,
            redirects: .custom { next, _ in
                var next = next
                next.url = URL(string: "https://api.example.com/end")
                return next
            }
        )
        let response = try await provider.request(TestTarget(.example))
        #expect(response.statusCode == 200)
        #expect(response.redirects.map(\.to) == [response.request?.url])
    }

    @Test(
        "Secrets are removed when the closure changes the origin, unless it sets them itself",
        arguments: [true, false]
    )
    func secrets(setsThem: Bool) async throws {
        let other = try RunningBackend(.system)
        let running = try redirecting(.system)
        let url = other.baseURL.appending(path: "end")
        let provider = Provider<TestTarget>(
            transport: running.transport,
            redirects: .custom { next, _ in
                var next = next
                next.url = url
                if setsThem { next.setValue("Bearer other", forHTTPHeaderField: "Authorization") }
                return next
            }
        )
        _ = try await provider.request(call(running))
        let last = try #require(other.requests.last)
        #expect(last.headers[.authorization] == (setsThem ? "Bearer other" : nil))
        #expect(last.headers["X-Plain"] == "yes")
    }

    @Test("The closure's body is sent", arguments: [nil, "changed"], Backend.allCases)
    func body(text: String?, backend: Backend) async throws {
        let running = try redirecting(backend)
        let provider = Provider<TestTarget>(
            transport: running.transport,
            redirects: .custom { next, _ in
                var next = next
                next.httpBody = text.map { Data($0.utf8) }
                if text == nil { next.httpMethod = "GET" }
                return next
            }
        )
        let response = try await provider.request(call(running))
        #expect(response.statusCode == 200)
        #expect(running.requests.last?.text == text ?? "")
        #expect(running.requests.last?.method == (text == nil ? "GET" : "POST"))
    }
    @Test("A closure that answers with GET or HEAD sends no body", arguments: ["GET", "HEAD"], Backend.allCases)
    func noBody(method: String, backend: Backend) async throws {
        let running = try redirecting(backend)
        let folder = try TemporaryFolder()
        let file = try folder.file("body.json", Data("{}".utf8))
        let provider = Provider<TestTarget>(
            transport: running.transport,
            redirects: .custom { next, _ in
                var next = next
                next.httpMethod = method
                return next
            }
        )
        for task in [HTTPTask.upload(file: file), .multipart([.file(file, name: "f")])] {
            let response = try await provider.request(call(running).with { $0.task = task })
            #expect(response.statusCode == 200)
            let last = try #require(running.requests.last)
            #expect(last.method == method)
            #expect(last.body.isEmpty)
            #expect(last.headers.names(startingWith: "content-").isEmpty)
            #expect(last.headers["X-Plain"] == "yes")
        }
    }
}

extension HTTPHeaders {
    fileprivate func names(startingWith prefix: String) -> [String] {
        map(\.name.rawValue).filter { $0.lowercased().hasPrefix(prefix) }
    }
}

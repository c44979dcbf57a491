// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects", .throttled)
struct RedirectTests {
    /// A server whose `/start` redirects, and whose other paths answer with what arrived.
    private func backend(
        _ backend: Backend,
        status: Int,
        location: @escaping @Sendable (ReceivedRequest) -> String = { _ in "/end?x=1" }
    ) throws -> RunningBackend {
        try RunningBackend(backend) { request in
            guard request.target.hasPrefix("/start") else {
                return .response(status: 200, data: Data("arrived".utf8))
            }
            return .response(status: status, headers: ["Location": location(request)], data: Data("moved".utf8))
        }
    }

    private func start(_ running: RunningBackend) -> TestTarget {
        TestTarget(running.baseURL).with { $0.path = "/start" }
    }

    @Test(
        "The method and body of the next request follow RFC 9110 §15.4",
        arguments: Backend.allCases,
        [
            (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
            (303, "PUT", "GET", false),
            (301, "PUT", "PUT", true), (302, "DELETE", "DELETE", false), (307, "POST", "POST", true),
            (308, "PUT", "PUT", true), (303, "HEAD", "HEAD", false), (301, "GET", "GET", false),
            (308, "PATCH", "PATCH", true),
        ] as [(Int, String, String, Bool)]
    )
    func methods(_ backend: Backend, row: (status: Int, before: String, after: String, keepsBody: Bool)) async throws {
        let running = try self.backend(backend, status: row.status)
        let hasBody = ["POST", "PUT", "PATCH"].contains(row.before)
        let target = start(running).with {
            $0.method = HTTPMethod(rawValue: row.before)
            $0.task = hasBody ? .json(["a": 1]) : .plain
            $0.headers = ["X-Kept": "yes"]
        }
        let response = try await Provider<TestTarget>(transport: running.transport).request(target)
        let last = try #require(running.requests.last)
        #expect(running.requests.count == 2)
        #expect(last.method == row.after)
        #expect(last.target == "/end?x=1")
        #expect(last.text == (row.keepsBody ? #"{"a":1}"# : ""))
        #expect((last.headers["Content-Type"] != nil) == row.keepsBody)
        #expect(last.headers["X-Kept"] == "yes")
        #expect(response.redirects.map(\.statusCode) == [row.status])
        #expect(response.redirects.last?.to == response.request?.url)
        #expect(response.request?.url?.path() == "/end")
    }

    @Test("Secrets are removed when the origin changes, and kept when it does not", arguments: [true, false])
    func secrets(isCrossOrigin: Bool) async throws {
        struct SecretPlugin: Plugin {
            var secretHeaders: Set<HTTPHeaderName> { ["X-Signature"] }
        }
        let other = try RunningBackend(.system)
        let running = try backend(.system, status: 307) { _ in
            isCrossOrigin ? other.baseURL.absoluteString + "/end" : "/end"
        }
        let target = start(running).with {
            $0.method = .post
            $0.task = .json(["a": 1])
            $0.headers = [
                "Authorization": "Bearer t", "Cookie": "c=1", "Proxy-Authorization": "Basic x", "X-Signature": "s",
                "X-Api-Key": "k", "PRIVATE-TOKEN": "p", "X-Vault-Token": "v", "apikey": "a", "X-Sign": "s",
                "X-Kept": "yes",
            ]
        }
        _ = try await Provider<TestTarget>(transport: running.transport, plugins: [SecretPlugin()]).request(target)
        let last = try #require(isCrossOrigin ? other.requests.last : running.requests.last)
        #expect(last.headers["X-Kept"] == "yes")
        #expect(last.text == #"{"a":1}"#)
        let secrets: [HTTPHeaderName] = [
            "Authorization", "Cookie", "X-Signature", "X-Api-Key", "PRIVATE-TOKEN", "X-Vault-Token", "apikey", "X-Sign",
        ]
        for name in secrets {
            #expect((last.headers[name] == nil) == isCrossOrigin, "\(name)")
        }
    }

    @Test("A redirect with two different locations is an error", arguments: [true, false])
    func twoLocations(isSame: Bool) async throws {
        let server = try TestServer { request in
            guard request.path == "/start" else { return TestServer.Response(body: Data("end".utf8)) }
            return TestServer.Response(
                status: 302,
                headers: ["Location": "/end", "Location": isSame ? "/end" : "/other"],
                body: Data()
            )
        }
        let target = TestTarget(server.baseURL).with { $0.path = "/start" }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        if isSame {
            #expect(try await provider.request(target).statusCode == 200)
        } else {
            let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
            #expect((error.underlying as? URLError)?.code == .redirectToNonExistentLocation)
            #expect(server.requestCount == 1)
        }
    }

    @Test(
        "Redirect loops and invalid redirects end with a specific error",
        arguments: [
            ("/start", URLError.Code.httpTooManyRedirects), ("ftp://h.example/", .redirectToNonExistentLocation),
            ("mailto:a@b", .redirectToNonExistentLocation), ("http://", .redirectToNonExistentLocation),
        ]
    )
    func deadEnds(location: String, code: URLError.Code) async throws {
        let running = try backend(.system, status: 302) { _ in location }
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: running.transport).request(start(running))
        }
        #expect(error.stage == .transport)
        #expect(error.kind == .badRedirect)
        #expect((error.underlying as? URLError)?.code == code)
        #expect(running.requests.count == (code == .httpTooManyRedirects ? 11 : 1))
    }

    @Test("From https to http is refused, unless it is allowed")
    func downgrade() async throws {
        let seen = Recorder<String>()
        let transport = StubTransport { request in
            let url = request.urlRequest.url?.absoluteString ?? ""
            seen.append(url)
            return url.hasPrefix("https")
                ? .response(status: 302, headers: ["Location": "http://api.example.com/end"], data: Data())
                : .response(status: 200, data: Data())
        }
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(TestTarget(.example))
        }
        #expect(error.kind == .insecureConnection)
        #expect(seen.count == 1)
        let lax = Provider<TestTarget>(transport: transport, redirects: .follow(allowsDowngrade: true))
        #expect(try await lax.request(TestTarget(.example)).statusCode == 200)
    }

    @Test("A call that does not follow redirects gets the redirect, whatever the provider's policy is")
    func option() async throws {
        let running = try backend(.stub, status: 307)
        for policy in [RedirectPolicy.follow(), .custom { next, _ in next }] {
            let provider = Provider<TestTarget>(transport: running.transport, redirects: policy)
            let options = CallOptions.setting(\.followsRedirects, false)
            #expect(try await provider.request(start(running), options: options).statusCode == 307)
            #expect(try await provider.request(start(running)).statusCode == 200)
        }
        #expect(running.requests.count == 6)
    }

    @Test("The policy none, a closure's nil, and a redirect without Location leave the redirect as the response")
    func notFollowed() async throws {
        let running = try backend(.stub, status: 302)
        for policy in [RedirectPolicy.none, .custom { _, _ in nil }, .follow(limit: 0)] {
            let provider = Provider<TestTarget>(transport: running.transport, redirects: policy)
            let response = try await provider.request(start(running))
            #expect(response.statusCode == 302)
            #expect(response.redirects.isEmpty)
        }
        let bare = StubTransport(.response(status: 302, data: Data()))
        #expect(try await Provider<TestTarget>(transport: bare).request(TestTarget(.example)).statusCode == 302)
        let sample = TestTarget(.example).with {
            $0.sampleResponse = .response(status: 302, headers: ["Location": "/x"], data: Data())
        }
        let stubbed = Provider<TestTarget>(stubClosure: { _ in .immediate })
        #expect(try await stubbed.request(sample).statusCode == 302)
    }

    @Test("A closure sees the next request and may change it")
    func custom() async throws {
        let running = try backend(.stub, status: 302)
        let provider = Provider<TestTarget>(
            transport: running.transport,
            redirects: .custom { next, redirect in
                var next = next
                next.setValue("\(redirect.statusCode)", forHTTPHeaderField: "X-Step")
                return next
            }
        )
        _ = try await provider.request(start(running))
        #expect(running.requests.last?.headers["X-Step"] == "302")
    }

    @Test("A streamed form is read again for the next request", arguments: [Backend.system, .urlSession])
    func streamedForm(_ backend: Backend) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a.txt", Data("file body".utf8))
        let running = try self.backend(backend, status: 308)
        let target = start(running).with {
            $0.method = .post
            $0.task = .multipart([.file(file, name: "f")])
        }
        _ = try await Provider<TestTarget>(transport: running.transport).request(target)
        #expect(running.requests.count == 2)
        #expect(running.requests.first?.text.contains("file body") == true)
        #expect(running.requests.first?.body == running.requests.last?.body)
    }

    @Test(
        "The body of a redirect never reaches the file of a download",
        arguments: [Backend.system, .urlSession, .stub]
    )
    func download(_ backend: Backend) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("target.bin", Data("old".utf8))
        let running = try self.backend(backend, status: 302)
        let target = start(running).with { $0.task = .download(to: file) }
        let response = try await Provider<TestTarget>(transport: running.transport).request(target)
        #expect(response.file == file)
        #expect(try Data(contentsOf: file) == Data("arrived".utf8))
        let circle = try self.backend(backend, status: 302) { _ in "/start" }
        await #expect(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: circle.transport)
                .request(self.start(circle).with { $0.task = .download(to: file) })
        }
        #expect(try Data(contentsOf: file) == Data("arrived".utf8))
        #expect(folder.names == ["target.bin"])
    }

    @Test("The body of a redirect is released before the next response", .timeLimit(.minutes(3)))
    func bodiesOfRedirects() async throws {
        let gate = Gate()
        let server = try TestServer { request in
            guard let next = ["/start": "/middle", "/middle": "/end"][request.path] else {
                return [.pause(until: gate), .head(status: 200, headers: ["Content-Length": "3"]), .text("abc")]
            }
            let fields: HTTPHeaders = [
                "Location": next, "Content-Type": "application/json", "Content-Length": "10",
            ]
            return [.head(status: 302, headers: fields), .hang]
        }
        let target = TestTarget(server.baseURL).with { $0.path = "/start" }
        async let stream = Provider<TestTarget>(transport: SystemTransport.patient).stream(target)
        await server.waitForConnections(closed: 2)
        gate.open()
        #expect(try await stream.response.redirects.map(\.statusCode) == [302, 302])
    }

    @Test("Plugins see one willSend and one didReceive for a call with redirects")
    func plugins() async throws {
        let running = try backend(.stub, status: 302)
        let plugin = RecordingPlugin()
        _ = try await Provider<TestTarget>(transport: running.transport, plugins: [plugin]).request(start(running))
        #expect(
            plugin.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .status(200)), .retry(attempt: 0),
                .process(.status(200)),
            ]
        )
    }
}

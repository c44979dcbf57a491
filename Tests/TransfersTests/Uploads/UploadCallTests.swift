// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How the requests of an upload are exchanges of its call.
@Suite("Uploads: calls", .throttled, .timeLimit(.minutes(2)))
struct UploadCallTests {
    private static let size = 300_000
    private let fixture: UploadFixture

    init() throws {
        fixture = try UploadFixture(size: Self.size)
    }

    /// Adds a token to each request, and notes what it sees.
    private struct TokenPlugin: Plugin {
        let token = Locked("first")
        let events = Recorder<String>()
        var secretHeaders: Set<HTTPHeaderName> { ["X-Key"] }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue(token.withLock(\.self), forHTTPHeaderField: "Authorization")
            request.setValue("k", forHTTPHeaderField: "X-Key")
            request.setValue("same", forHTTPHeaderField: "Idempotency-Key")
            request.setValue("visible", forHTTPHeaderField: "X-Visible")
            return request
        }

        func willSend(_ request: URLRequest, context: RequestContext) {
            events.append("\(context.attempt) \(request.httpMethod ?? "")")
        }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            events.append("received")
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard case .failure(let error) = result, error.kind == .unauthorized else { return .doNotRetry }
            token.withLock { $0 = "second" }
            return .retry(after: .zero)
        }
    }

    @Test("Each request passes the plugins, and a token is renewed in the middle of an upload")
    func plugins() async throws {
        let server = try TusServer { request, _ in
            let isSecond = request.method == .patch && request.headers["Upload-Offset"] == "200000"
            return isSecond && request.headers["Authorization"] != "second" ? .status(401) : nil
        }
        let plugin = TokenPlugin()
        _ = try await fixture.provider([plugin]).request(fixture.target(server.baseURL, .tus.chunkSize(200_000)))
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "PATCH", "HEAD", "PATCH"])
        // The requests of an attempt have its number.
        let sent = plugin.events.elements.filter { $0 != "received" }
        #expect(sent == ["0 OPTIONS", "0 POST", "0 PATCH", "0 PATCH", "1 HEAD", "1 PATCH"])
        #expect(plugin.events.elements.count == 12)
        #expect(server.server.requests.allSatisfy { $0.headers["Idempotency-Key"] == nil })
        #expect(server.server.requests.allSatisfy { $0.headers["X-Key"] == "k" })
    }

    @Test("Secrets are not sent to an upload on another origin, also by a later call")
    func foreign() async throws {
        let server = try TusServer { request, number in number == 0 ? nil : nil }
        let other = try TestServer { [state = server.state] request in TusServer.response(to: request, state) }
        server.setLocationBase(other.baseURL.absoluteString)
        let plugin = TokenPlugin()
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
            .with { $0.headers = ["Cookie": "a=b", "X-Vault-Token": "v", "X-Mine": "m"] }
        let stop = Locked(true)
        let retry = RetryingPlugin { _, _ in false }
        struct Stop: Plugin {
            let stop: Locked<Bool>
            let parts = Locked(0)
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                let isSecondPart =
                    request.httpMethod == "PATCH"
                    && parts.withLock {
                        $0 += 1; return $0
                    } == 2
                if isSecondPart, stop.withLock(\.self) { throw Boom() }
                return request
            }
        }
        _ = await #expect(throws: TargetKitError.self) {
            try await fixture.provider([plugin, retry, Stop(stop: stop)]).request(target)
        }
        stop.withLock { $0 = false }
        _ = try await fixture.provider([plugin]).request(target)
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "POST"])
        #expect(
            server.server.requests.allSatisfy { $0.headers["Authorization"] != nil && $0.headers["Cookie"] == "a=b" }
        )
        #expect(other.requests.map(\.method.rawValue) == ["PATCH", "HEAD", "PATCH"])
        for request in other.requests {
            #expect(
                ["Authorization", "Cookie", "X-Key", "X-Vault-Token"].allSatisfy {
                    request.headers[HTTPHeaderName(rawValue: $0)] == nil
                }
            )
            #expect(request.headers["X-Visible"] == "visible")
            #expect(request.headers["X-Mine"] == "m")
        }
    }

    @Test(
        "Another user's upload is neither continued nor deleted, and the same user's is, with any credential",
        arguments: ["anna", "bob", nil],
        [true, false]
    )
    func otherUser(second: String?, isChanged: Bool) async throws {
        struct UserPlugin: Plugin {
            let user: String?
            let token: String
            let isStopping: Bool
            let parts = Locked(0)

            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue(token, forHTTPHeaderField: "Authorization")
                context.credentialOwner = user.map { CredentialOwner(identifier: $0, fields: [.authorization]) }
                let count = parts.withLock { parts in
                    parts += request.httpMethod == "PATCH" ? 1 : 0
                    return parts
                }
                if isStopping, count == 2 { throw Boom() }
                return request
            }
        }
        let server = try TusServer()
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        await #expect(throws: TargetKitError.self) {
            let plugin = UserPlugin(user: "anna", token: "one", isStopping: true)
            return try await fixture.provider([plugin, RetryingPlugin { _, _ in false }]).request(target)
        }
        if isChanged { try Data(count: Self.size).write(to: fixture.file) }
        let plugin = UserPlugin(user: second, token: "two", isStopping: false)
        _ = try await fixture.provider([plugin]).request(target)
        let methods = server.server.requests.filter { $0.headers["Authorization"] == "two" }.map(\.method.rawValue)
        switch (second == "anna", isChanged) {
        case (true, false): #expect(methods == ["HEAD", "PATCH"])
        case (true, true): #expect(methods == ["DELETE", "OPTIONS", "POST", "PATCH", "PATCH"])
        case (false, _): #expect(methods == ["OPTIONS", "POST", "PATCH", "PATCH"])
        }
    }

    @Test("The deletion of a cancelled upload on another origin has no secrets of a signing plugin")
    func foreignDeletion() async throws {
        struct SecretPlugin: Plugin {
            var place: PluginPlace { .signing }
            var secretHeaders: Set<HTTPHeaderName> { ["X-Mark"] }
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue("secret", forHTTPHeaderField: "X-Mark")
                request.url = request.url.flatMap { URL(string: $0.absoluteString + "?key=secret") }
                return request
            }
        }
        let server = try TusServer()
        let other = try TestServer { [state = server.state] request in
            request.method == .patch ? .hang : TusServer.response(to: request, state)
        }
        server.setLocationBase(other.baseURL.absoluteString)
        let target = fixture.target(server.baseURL, .tus.terminatedOnCancel)
        let provider = fixture.provider([SecretPlugin()])
        let call = Task { try await provider.request(target) }
        await other.waitForRequests(1)
        call.cancel()
        await other.waitForRequests(2)
        #expect(server.server.requests.allSatisfy { $0.headers["X-Mark"] == "secret" && $0.query == "key=secret" })
        #expect(other.requests.map(\.method) == [.patch, .delete])
        #expect(other.requests.allSatisfy { $0.headers["X-Mark"] == nil && $0.query == nil })
        _ = await call.result
    }

    @Test("A plugin that moves calls or adds a query does not change the URL of an upload on another origin")
    func moved() async throws {
        struct KeyPlugin: Plugin {
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.url = request.url.flatMap { URL(string: $0.absoluteString + "?key=secret") }
                return request
            }
        }
        let server = try TusServer()
        let other = try TestServer { [state = server.state] request in TusServer.response(to: request, state) }
        _ = try await fixture.provider([KeyPlugin()]).request(fixture.target(server.baseURL, .tus))
        #expect(server.server.requests.allSatisfy { $0.query == "key=secret" })
        server.setLocationBase(other.baseURL.absoluteString)
        _ = try await fixture.provider([KeyPlugin()]).request(fixture.target(server.baseURL, .tus))
        #expect(other.requests.map(\.query) == [nil])
    }

    @Test("A redirect of an upload's request is followed with the same bytes")
    func redirected() async throws {
        let server = try TusServer { request, number in
            number == 3 ? .status(307, headers: ["Location": request.path + "?again"]) : nil
        }
        _ = try await fixture.provider().request(fixture.target(server.baseURL, .tus.chunkSize(200_000)))
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.server.requests[4].query == "again")
        #expect(server.server.requests[4].headers["Upload-Offset"] == "200000")
    }

    @Test("A scope that is shut down waits until a cancelled upload is deleted")
    func shutdown() async throws {
        /// A transport that needs some time for a deletion.
        struct SlowDeletion: Transport {
            let ended = Recorder<Void>()

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                guard request.urlRequest.httpMethod == "DELETE" else {
                    return try await SystemTransport.patient.send(request)
                }
                for _ in 1...1_000 { await Task.yield() }
                let response = try await SystemTransport.patient.send(request)
                ended.append(())
                return response
            }
        }
        let server = try TusServer { request, number in number == 3 ? .hang : nil }
        let transport = SlowDeletion()
        let scope = RequestScope()
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000).terminatedOnCancel)
        let call = Task { try await provider.request(target) }
        await server.server.waitForRequests(4)
        await scope.shutdown(grace: .zero)
        #expect(transport.ended.count == 1)
        #expect(server.methods.last == "DELETE")
        guard case .failure(let error as TargetKitError) = await call.result else {
            Issue.record("the call was not cancelled")
            return
        }
        #expect(error.stage == .cancelled)
    }

    @Test("An upload whose exchange the transport has cancelled is kept, and the next call continues it")
    func cancelledByTransport() async throws {
        /// A transport that ends one PATCH, as one that is shut down.
        struct Ending: Transport {
            let hasEnded = Locked(false)

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let response = try await SystemTransport.patient.send(request)
                let isEnded = hasEnded.withLock { hasEnded in
                    defer { if request.urlRequest.httpMethod == "PATCH" { hasEnded = true } }
                    return hasEnded
                }
                if request.urlRequest.httpMethod == "PATCH", !isEnded { throw URLError(.cancelled) }
                return response
            }
        }
        let server = try TusServer { _, _ in nil }
        let provider = Provider<TestTarget>(transport: Ending())
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000).terminatedOnCancel)
        await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        await provider.scope.shutdown(grace: .seconds(60))
        provider.scope.reopen()
        _ = try await provider.request(target)
        #expect(server.content?.whole == fixture.content.whole)
        #expect(!server.methods.contains("DELETE"))
        #expect(server.methods.count { $0 == "POST" } == 1)
    }

    @Test("A call without plugins leaves nothing of its upload in memory")
    func released() async throws {
        final class Silent: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                try await SystemTransport.patient.send(request)
            }
        }
        let server = try TusServer { _, _ in nil }
        weak var transport: Silent?
        do {
            let held = Silent()
            transport = held
            let provider = Provider<TestTarget>(transport: held)
            _ = try await provider.request(fixture.target(server.baseURL, .tus))
        }
        while transport != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(server.content?.whole == fixture.content.whole)
    }

    @Test("An upload can be paused and resumed")
    func paused() async throws {
        let server = try TusServer { request, number in number == 3 ? .hang : nil }
        let results = Recorder<Result<Response, TargetKitError>>()
        let handle = fixture.provider()
            .request(fixture.target(server.baseURL, .tus.chunkSize(200_000)), on: DispatchQueue(label: "test")) {
                results.append($0)
            }
        await server.server.waitForRequests(4)
        handle.pause()
        await server.server.waitForConnections(closed: 1)
        #expect(results.count == 0)
        #expect(server.methods.count == 4)
        handle.resume()
        _ = try await results.element(0).get()
        #expect(server.content?.whole == fixture.content.whole)
        #expect(Array(server.methods.dropFirst(4)) == ["HEAD", "PATCH"])
    }

    @Test("A pause that ends before the exchange has started to wait ends the exchange as well")
    func pausedAtStart() async throws {
        struct WaitingPlugin: Plugin {
            let gate = Gate()
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                await gate.wait()
                return request
            }
        }
        let (plugin, handle, end) = (WaitingPlugin(), Locked<RequestHandle?>(nil), Gate())
        let methods = Recorder<String?>()
        let transport = StubTransport { request in
            methods.append(request.urlRequest.httpMethod)
            if methods.count == 1 {
                let handle = handle.withLock(\.self)
                handle?.pause()
                handle?.resume()
                try await end.waitUnlessCancelled()
            }
            return .response(status: 503, data: Data())
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [plugin])
        let call = provider.request(fixture.target(.example, .tus), on: .global()) { _ in }
        handle.withLock { $0 = call }
        plugin.gate.open()
        let error = await #expect(throws: TargetKitError.self) { try await call.response() }
        #expect(error?.response?.statusCode == 503)
        #expect(methods.elements.prefix(2) == ["OPTIONS", "OPTIONS"])
    }

    @Test("A request that cannot be continued is not paused")
    func notPaused() async throws {
        let server = try TestServer { _ in .hang }
        let handle = fixture.provider()
            .request(fixture.target(server.baseURL, .http), on: DispatchQueue(label: "test")) { _ in }
        await server.waitForRequests(1)
        handle.pause()
        #expect(server.openConnectionCount == 1)
        handle.cancel()
        await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(server.requestCount == 1)
    }

    @Test("A signature covers what is sent, and each part has its own")
    func signed() async throws {
        struct SigningPlugin: Plugin {
            var place: PluginPlace { .signing }
            func exchange(
                _ request: TransportRequest,
                context: RequestContext,
                next: Exchange
            ) async throws -> TransportResponse {
                var request = request
                let urlRequest = request.urlRequest
                let signed =
                    "\(urlRequest.httpMethod ?? "") \(urlRequest.url?.path ?? "") "
                    + (urlRequest.value(forHTTPHeaderField: "Upload-Offset") ?? "")
                request.urlRequest.setValue(signed, forHTTPHeaderField: "X-Signature")
                return try await next(request)
            }
        }
        let server = try TusServer()
        _ = try await fixture.provider([SigningPlugin()])
            .request(fixture.target(server.baseURL, .tus.chunkSize(200_000)))
        for request in server.server.requests {
            let signed = "\(request.method.rawValue) \(request.path) \(request.headers["Upload-Offset"] ?? "")"
                .trimmingCharacters(in: .whitespaces)
            #expect(request.headers["X-Signature"] == signed)
        }
        #expect(server.content?.whole == fixture.content.whole)
    }

    @Test("An awaited call, and one with a transport of another kind, upload in the same way")
    func otherTransport() async throws {
        for upload in [ResumableUpload.tus.chunkSize(100_000), .tus] {
            let server = try TusServer()
            let provider = fixture.provider(transport: URLSessionTransport.patient)
            _ = try await provider.request(fixture.target(server.baseURL, upload))
            #expect(server.content?.whole == fixture.content.whole)
        }
    }

    @Test("A call with a limit for its whole time ends in time, and keeps the upload")
    func timeout() async throws {
        let server = try TusServer { request, number in number == 3 ? .hang : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        let clock = ManualClock()
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, clock: clock)
        let call = Task { try await provider.request(target, options: .setting(\.timeout, .wholeCall(.seconds(60)))) }
        await server.server.waitForRequests(4)
        clock.advance(by: .seconds(60))
        let result = await call.result
        guard case .failure(let error as TargetKitError) = result else {
            Issue.record("the call did not time out")
            return
        }
        #expect(error.kind == .timedOut)
        _ = try await fixture.provider().request(target)
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods.count { $0 == "POST" } == 1)
    }

    @Test("Progress counts from what the server has, and ends with the length")
    func progress() async throws {
        let server = try TusServer { request, number in number == 3 ? .hang : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        let first = Task { try await fixture.provider().request(target) }
        await server.server.waitForRequests(4)
        first.cancel()
        _ = await first.result
        let steps = Recorder<TransferProgress>()
        let results = Recorder<Result<Response, TargetKitError>>()
        fixture.provider().request(target, on: DispatchQueue(label: "test"), progress: { steps.append($0) }) {
            results.append($0)
        }
        _ = try await results.element(0).get()
        let uploads = steps.elements.filter { $0.direction == .upload }
        #expect(uploads.allSatisfy { $0.total == Int64(Self.size) && $0.completed >= 200_000 })
        #expect(uploads.map(\.completed) == uploads.map(\.completed).sorted())
        #expect(uploads.last?.completed == Int64(Self.size))
    }

    @Test("A stubbed upload returns the sample, without the protocol")
    func stubbed() async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let response = try await provider.request(fixture.target(.example, .tus))
        #expect(response.statusCode == 200)
        #expect(fixture.stateNames.isEmpty)
        let transported = fixture.provider(transport: StubTransport(.response(status: 200, data: Data("a".utf8))))
        for upload in [ResumableUpload.tus, .http] {
            #expect(try await transported.request(fixture.target(.example, upload)).data == Data("a".utf8))
        }
    }

    @Test("What cannot be resumed is an error before anything is sent")
    func invalid() async throws {
        let server = try TestServer(response: .status(200))
        let form = MultipartForm(parts: [.text("a", name: "a")])
        let file = fixture.folder.url.appendingPathComponent("response")
        let tasks: [HTTPTask] = [
            .multipart(form).resumable(.tus), .json(["a": 1]).resumable(.tus), .form(["a": "b"]).resumable(.http),
            .plain.resumable(.tus), .upload(file: fixture.file).resumable(.tus).download(to: file),
            .upload(file: fixture.file).resumable(.tus.chunkSize(0)),
            .upload(file: fixture.file).resumable(.tus.metadata(["a b": "c"])),
            .upload(file: fixture.file).resumable(.tus.metadata(["": "c"])),
            .upload(file: fixture.file).resumable(.tus.metadata(["ä": "c"])),
            .upload(file: fixture.file).resumable(.http.metadata(["a": "c"])),
            .upload(file: fixture.file).resumable(.tus.stateFolder(server.baseURL)),
        ]
        for task in tasks {
            let target = TestTarget(server.baseURL).with {
                $0.method = .post
                $0.task = task
            }
            let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
            #expect(error?.kind == .invalidRequest, "\(task)")
            #expect(error?.underlying is InvalidRequest, "\(task)")
        }
        let missing = fixture.target(server.baseURL, .tus)
            .with { $0.task = .upload(file: file).resumable(.tus.stateFolder(fixture.states)) }
        #expect(
            (await #expect(throws: TargetKitError.self) { try await fixture.provider().request(missing) })?.kind
                == .unreadableFile
        )
        let occupied = fixture.target(server.baseURL, .tus)
            .with { $0.task = .upload(file: fixture.file).resumable(.tus.stateFolder(fixture.file)) }
        let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(occupied) }
        guard case .noStateFolder = error?.underlying as? UploadFailure else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.requestCount == 0)
    }

    @Test(
        "A damaged state, or one of another content, begins a new upload",
        arguments: ["", "{}", "\u{0}", "{\"version\":1}"]
    )
    func damaged(text: String) async throws {
        let server = try TusServer { request, number in number == 3 ? .reset : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000))
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        let name = try #require(fixture.stateNames.first { $0.hasSuffix(".json") })
        let record = fixture.states.appendingPathComponent(name)
        let good = try Data(contentsOf: record)
        #expect(String(decoding: good, as: UTF8.self).contains("/files/1"))
        #expect(!String(decoding: good, as: UTF8.self).contains(fixture.file.lastPathComponent))
        try Data(text.utf8).write(to: record)
        _ = try await fixture.provider().request(target)
        #expect(Array(server.methods.dropFirst(4)) == ["OPTIONS", "POST", "PATCH", "PATCH", "PATCH"])
    }

    @Test("A state that nobody has used for a month is removed")
    func old() async throws {
        let server = try TusServer { request, number in number == 3 ? .reset : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000))
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        for name in fixture.stateNames {
            let file = fixture.states.appendingPathComponent(name).path
            let month = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -31 * 86_400)]
            try FileManager.default.setAttributes(month, ofItemAtPath: file)
        }
        let other = try UploadFixture(size: 10)
        let upload = ResumableUpload.tus.stateFolder(fixture.states)
        let small = fixture.target(server.baseURL, upload)
            .with { $0.task = .upload(file: other.file).resumable(upload) }
        _ = try await fixture.provider().request(small)
        #expect(fixture.stateNames.isEmpty)
    }
}

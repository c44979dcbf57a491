// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads: resuming", .throttled, .timeLimit(.minutes(3)))
struct ResumeTests {
    static let size = 300_000
    static let cut = 120_001

    let folder: TemporaryFolder
    var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
    }

    func target(_ server: TestServer) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: .file(file).resumable)
            $0.validation = .successCodes
        }
    }

    /// A server whose first response is cut, and whose later ones are those of the closure.
    func server(
        _ first: ServedFile,
        cut: Int = cut,
        then response: @escaping @Sendable (TestServer.Request) -> TestServer.Response
    ) throws -> TestServer {
        try TestServer { request in request.index == 0 ? first.response(to: request, cut: cut) : response(request) }
    }

    /// Makes the call that is cut.
    func fail(_ provider: Provider<TestTarget>, _ server: TestServer) async throws {
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target(server)) }
        #expect(error.kind == .connectionLost)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    let provider = Provider<TestTarget>(transport: SystemTransport.patient)

    @Test("The metrics of a download count the bytes that arrived in its last exchange")
    func metrics() async throws {
        let content = ServedFile(size: Self.size, validators: ["ETag": "\"v1\""])
        let server = try server(content) { content.response(to: $0) }
        try await fail(provider, server)
        let metrics = try #require(try await provider.request(target(server)).metrics)
        #expect(metrics.bytesReceived == Int64(Self.size - Self.cut))
        #expect(metrics.httpVersion == "HTTP/1.1")
        #expect(metrics.total > .zero)
    }

    @Test(
        "A download that was cut continues with the bytes that are missing, and its response is that of a whole file",
        arguments: [
            ["ETag": "\"v1\""],
            ["ETag": "\"\""],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:38 GMT"],
            ["ETag": "\"v1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPHeaders]
    )
    func continues(validators: HTTPHeaders) async throws {
        let content = ServedFile(size: Self.size, validators: validators)
        let server = try server(content) { content.response(to: $0) }
        try await fail(provider, server)
        let response = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(response.file == file)
        #expect(response.statusCode == 200)
        #expect(response.headers["Content-Length"] == String(Self.size))
        #expect(response.headers["Content-Range"] == nil)
        #expect(folder.names == ["file.bin"])
        let headers = server.requests[1].headers
        #expect(headers["Range"] == "bytes=\(Self.cut)-")
        #expect(headers["If-Range"] == validators["ETag"] ?? validators["Last-Modified"])
        #expect(headers["Accept-Encoding"] == "identity")
    }

    @Test("An attempt that a plugin repeats continues within the call, and progress counts what is there")
    func retried() async throws {
        struct Again: Plugin {
            let sent = Recorder<String?>()
            func willSend(_ request: URLRequest, context: RequestContext) {
                sent.append(request.value(forHTTPHeaderField: "Range"))
            }
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                if case .success = result { .doNotRetry } else { .retry(after: .zero) }
            }
        }
        let content = ServedFile(size: Self.size)
        let server = try TestServer { request in content.response(to: request, cut: request.index < 3 ? 50_000 : nil) }
        let (again, steps) = (Again(), Recorder<TransferProgress>())
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: [again])
        let finished = Recorder<Result<Response, TargetKitError>>()
        provider.request(target(server), on: DispatchQueue(label: "test"), progress: steps.append) {
            finished.append($0)
        }
        #expect(try await finished.element(0).get().file == file)
        #expect(again.sent.elements == [nil, "bytes=50000-", "bytes=100000-", "bytes=150000-"])
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        let total = Int64(Self.size)
        #expect(steps.elements.last?.completed == total)
        #expect(steps.elements.last?.total == total)
        #expect(steps.elements.map(\.completed) == steps.elements.map(\.completed).sorted())
    }

    @Test("A signing plugin signs the range, and each attempt is sent and received once")
    func signed() async throws {
        struct Signing: Plugin {
            let place = PluginPlace.signing
            let events = Recorder<String>()
            func exchange(
                _ request: TransportRequest,
                context: RequestContext,
                next: Exchange
            ) async throws -> TransportResponse {
                var request = request
                let range = request.urlRequest.value(forHTTPHeaderField: "Range") ?? "none"
                request.urlRequest.setValue(range, forHTTPHeaderField: "X-Signed")
                return try await next(request)
            }
            func willSend(_ request: URLRequest, context: RequestContext) { events.append("sent") }
            func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
                events.append("received")
            }
        }
        let (old, new) = (ServedFile(size: Self.size), ServedFile(size: Self.size, seed: 2))
        let server = try server(old) { request in
            request.index == 1 ? old.response(status: 416, Data(), [:]) : new.response(to: request)
        }
        let plugin = Signing()
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: [plugin])
        try await fail(provider, server)
        _ = try await provider.request(target(server))
        #expect(server.requests.map { $0.headers["X-Signed"] } == ["none", "bytes=\(Self.cut)-", "none"])
        #expect(plugin.events.elements == ["sent", "received", "sent", "received", "sent", "received"])
        #expect(try Data(contentsOf: file).whole == new.data.whole)
    }

    // MARK: Responses that cannot be continued

    @Test(
        "A response without a strong validator leaves nothing behind when it is cut",
        arguments: [
            [:],
            ["ETag": "W/\"v1\""],
            ["ETag": "v1"],
            ["ETag": "\"a\"b\""],
            ["ETag": "\"a\"", "ETag": "\"b\""],
            ["ETag": "W/\"v1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "yesterday", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["ETag": "\"v1\"", "Content-Encoding": "br"],
        ] as [HTTPHeaders]
    )
    func notResumable(validators: HTTPHeaders) async throws {
        let content = ServedFile(size: Self.size, validators: validators)
        let server = try server(content) { ServedFile(size: Self.size, validators: [:]).response(to: $0) }
        try await fail(provider, server)
        #expect(folder.names.isEmpty)
        _ = try await provider.request(target(server))
        #expect(server.requests[1].headers["Range"] == nil)
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A request for a range of its own, with a body, or with another method is not continued")
    func otherRequests() async throws {
        let content = ServedFile(size: Self.size)
        let changes: [@Sendable (inout TestTarget) -> Void] = [
            { $0.headers = ["Range": "bytes=0-"] },
            { $0.headers = ["If-Range": "\"v1\""] },
            { $0.method = .post },
            { $0.validation = .codes([203]) },
        ]
        for change in changes {
            let server = try TestServer { content.response(to: $0, cut: Self.cut) }
            let error = try await #require(throws: TargetKitError.self) {
                try await provider.request(target(server).with(change))
            }
            #expect(error.stage == .transport || error.stage == .status)
            #expect(folder.names.isEmpty)
        }
    }

    @Test("A part of the file that was not requested fails the call")
    func unrequested() async throws {
        let content = ServedFile(size: 100)
        let server = try TestServer { _ in
            content.response(status: 206, content.data.prefix(10), ["Content-Range": "bytes 0-9/100"])
        }
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target(server)) }
        #expect((error.underlying as? URLError)?.code == .badServerResponse)
        #expect(server.requestCount == 1)
        #expect(folder.names.isEmpty)
    }

    @Test("A server that keeps answering with useless ranges is given up")
    func hopeless() async throws {
        let content = ServedFile(size: Self.size)
        let server = try server(content) { request in
            request.headers["range"] == nil
                ? content.response(to: request, cut: 10) : content.response(status: 416, Data(), [:])
        }
        try await fail(provider, server)
        try await fail(provider, server)
        #expect(server.requestCount == 3)
    }

    @Test("Over a transport that cannot stream, the file is downloaded as a whole")
    func urlSession() async throws {
        let content = ServedFile(size: Self.size)
        let server = try server(content) { content.response(to: $0) }
        try await fail(provider, server)
        let other = Provider<TestTarget>(transport: URLSessionTransport.patient)
        #expect(try await other.request(target(server)).file == file)
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(folder.names == ["file.bin"])
    }

    @Test("A sample is stored", arguments: Backend.allCases)
    func backends(_ backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in .response(status: 200, data: Data("new".utf8)) }
        let target = TestTarget(running.baseURL).with { $0.task = .download(to: .file(file).resumable) }
        #expect(try await Provider<TestTarget>(transport: running.transport).request(target).file == file)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(folder.names == ["file.bin"])
    }

    @Test("A response without a length is continued when it has been cut")
    func unknownLength() async throws {
        let content = ServedFile(size: Self.size)
        let server = try TestServer { request in
            if request.index > 0 { return content.response(to: request) }
            return [
                .head(status: 200, headers: content.validators.merging(["Transfer-Encoding": "chunked"])),
                .chunk(content.data.prefix(Self.cut)), .close,
            ]
        }
        try await fail(provider, server)
        _ = try await provider.request(target(server))
        #expect(server.requests[1].headers["Range"] == "bytes=\(Self.cut)-")
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("Of two calls to one file, both get a whole file, and nothing stays beside it")
    func together() async throws {
        let content = ServedFile(size: Self.size)
        let gate = Gate()
        let server = try TestServer { request in
            let head = TestServer.Step.head(
                status: 200,
                headers: content.validators.merging(["Content-Length": "\(Self.size)"])
            )
            return [head, .body(content.data.prefix(1000)), .pause(until: gate), .body(content.data.dropFirst(1000))]
        }
        async let first = provider.request(target(server))
        async let second = provider.request(target(server))
        await server.waitForHeads(2)
        gate.open()
        #expect(try await [first.file, second.file] == [file, file])
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(folder.names == ["file.bin"])
    }

    @Test("Calls to different places do not share an exchange, and calls to one place do")
    func sharing() async throws {
        let content = ServedFile(size: Self.size)
        let gate = Gate()
        let server = try TestServer { _ in
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [.pause(until: gate), .head(status: 200, headers: head), .body(content.data)]
        }
        let provider = Provider<TestTarget>(
            transport: SystemTransport.patient,
            options: .setting(\.sharesInFlight, true)
        )
        let other = folder.url.appendingPathComponent("other.bin")
        async let first = provider.request(target(server))
        async let second = provider.request(
            target(server).with { $0.task = .download(to: .file(other).resumable) }
        )
        await server.waitForHeads(2)
        gate.open()
        #expect(try await [first.file, second.file] == [file, other])
        #expect(server.requestCount == 2)
        #expect(try Data(contentsOf: other).whole == content.data.whole)
    }

    @Test("A cancelled call keeps what has arrived, whichever way it is cancelled", arguments: [true, false])
    func cancelled(byScope: Bool) async throws {
        let content = ServedFile(size: Self.size)
        let server = try TestServer { request in
            if request.index > 0 { return content.response(to: request) }
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [.head(status: 200, headers: head), .body(content.data.prefix(Self.cut)), .hang]
        }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        let call = Task { [target = target(server)] in try await provider.request(target) }
        while (folder.names.first { $0.hasSuffix(".download") }).map({ size(of: $0) }) != Self.cut {
            await Task.yield()
        }
        if byScope { provider.cancelAll() } else { call.cancel() }
        let error = try await #require(throws: TargetKitError.self) { try await call.value }
        #expect(error.stage == .cancelled)
        _ = try await provider.request(target(server))
        #expect(server.requests[1].headers["Range"] == "bytes=\(Self.cut)-")
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    private func size(of name: String) -> Int {
        (try? Data(contentsOf: folder.url.appendingPathComponent(name)).count) ?? 0
    }
}

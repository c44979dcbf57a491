// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Streams as calls: counted, cancelled and timed like any other.
@Suite("Streaming calls", .throttled, .timeLimit(.minutes(3)))
struct ProviderStreamTests {
    let scope = RequestScope()
    let clock = ManualClock()
    let plugin = RecordingPlugin()

    /// A server that sends a head, a piece, and the rest when the gate opens.
    private func server(rest: Gate) throws -> TestServer {
        try TestServer { _ in
            [
                .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntea \r\n"), .pause(until: rest),
                .text("5\r\nleaf!\r\n0\r\n\r\n"),
            ]
        }
    }

    private func provider(timeout: CallTimeout = .none) -> Provider<TestTarget> {
        Provider(plugins: [plugin], options: .setting(\.timeout, timeout), scope: scope, clock: clock)
    }

    @Test("The head comes before the body, and plugins and scope see the call until its end")
    func head() async throws {
        let rest = Gate()
        let server = try server(rest: rest)
        let stream = try await provider().stream(TestTarget(server.baseURL))
        #expect(stream.response.statusCode == 200)
        #expect(
            plugin.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .status(200)), .retry(attempt: 0),
                .process(.status(200)),
            ]
        )
        #expect(scope.inFlightCount == 1)
        var pieces = stream.makeAsyncIterator()
        #expect(try await pieces.next() == Data("tea ".utf8))
        rest.open()
        #expect(try await pieces.next() == Data("leaf!".utf8))
        #expect(try await pieces.next() == nil)
        #expect(try await pieces.next() == nil)
        #expect(scope.inFlightCount == 0)
    }

    @Test("The error of a refused status holds no connection, however long it is kept")
    func refusedBody() async throws {
        let head = TestServer.Step.head(
            status: 401,
            headers: ["Content-Type": "application/json", "Content-Length": "10", "X-Why": "late"]
        )
        let server = try TestServer(response: [head, .hang])
        let target = TestTarget(server.baseURL).with { $0.validation = .successCodes }
        let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
        await server.waitForConnections(closed: 1)
        #expect(error?.response?.headers["X-Why"] == "late")
    }

    @Test(
        "The reason of a refused status is read if it is JSON, whether its length is known or not",
        arguments: [
            "Content-Length: 24\r\n\r\n{\"error\":\"rate limited\"}",
            "Transfer-Encoding: chunked\r\n\r\n18\r\n{\"error\":\"rate limited\"}\r\n0\r\n\r\n",
        ]
    )
    func refusedReason(rest: String) async throws {
        let server = try TestServer { _ in
            .raw("HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\n" + rest)
        }
        let target = TestTarget(server.baseURL).with { $0.validation = .successCodes }
        let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
        #expect(error?.response?.statusCode == 429)
        #expect(error?.response.flatMap { try? $0.string() } == #"{"error":"rate limited"}"#)
        #expect(scope.inFlightCount == 0)
    }

    @Test(
        "The part of the reason of a refused status that arrives is kept if the server stalls or closes",
        arguments: ["Content-Length: 900", "Transfer-Encoding: chunked", "Connection: close"],
        [false, true]
    )
    func partOfReason(framing: String, stalls: Bool) async throws {
        let part = #"{"error":"rate lim"#
        let server = try TestServer { _ in
            let text =
                framing == "Transfer-Encoding: chunked" ? "\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n" : part
            let head = "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n\(framing)\r\n\r\n"
            return [.text(head + text), stalls ? .hang : .close]
        }
        let target = TestTarget(server.baseURL).with { $0.validation = .successCodes }
        let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
        #expect(error?.stage == .status)
        #expect(error?.response?.statusCode == 429)
        #expect(error?.response.flatMap { try? $0.string() } == part)
        #expect(scope.inFlightCount == 0)
    }

    @Test(
        "An envelope waits for the reason of a refused status until the timeout, and the part that arrived is kept",
        arguments: [CallTimeout.exchange(.milliseconds(300)), .wholeCall(.milliseconds(300))]
    )
    func awaitedReason(timeout: CallTimeout) async throws {
        let part = #"{"code":7,"mess"#
        let server = try TestServer { _ in
            [
                .text("HTTP/1.1 429 No\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + part), .hang,
            ]
        }
        let target = TestTarget(server.baseURL).with { $0.validation = .successCodes }
        let provider = Provider<TestTarget>(options: .setting(\.timeout, timeout).setting(\.envelope, Wrapped()))
        let error = await #expect(throws: TargetKitError.self) { try await provider.stream(target) }
        #expect(error?.response?.statusCode == 429 || timeout != .exchange(.milliseconds(300)))
        #expect(error?.stage == (timeout == .exchange(.milliseconds(300)) ? .status : .transport))
    }

    /// An envelope with a code.
    private struct Wrapped: ResponseEnvelope {
        func payload(of response: Response) -> Data? { response.data }
    }

    @Test(
        "A refused status ends the call without waiting for a reason that can't come",
        arguments: [
            "HTTP/1.1 429 No\r\nContent-Length: 9\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nContent-Type: application/json\r\n\r\n",
            "HTTP/1.1 429 No\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 429 No\r\nContent-Type: text/plain\r\n\r\nwait",
            "HTTP/1.1 429 No\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{",
        ]
    )
    func noReason(answer: String) async throws {
        let server = try TestServer { _ in [.text(answer), .hang] }
        let target = TestTarget(server.baseURL).with { $0.validation = .codes([299]) }
        let start = ContinuousClock.now
        let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
        #expect(error?.stage == .status)
        #expect(start.duration(to: .now) < .milliseconds(900))
    }

    @Test("At most 1 MiB and a piece of the reason of a refused status are kept, decoded")
    func longReason() async throws {
        let reason = Data("[\"\(String(repeating: "x", count: 10_000_000))\"]".utf8)
        for isChunked in [true, false] {
            let server = try TestServer { _ in
                [
                    .text("HTTP/1.1 429 No\r\nContent-Type: application/json\r\n"),
                    .text(isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Connection: close\r\n\r\n"),
                    isChunked ? .chunk(reason) : .bytes(reason), isChunked ? .endChunks : .close,
                ]
            }
            let target = TestTarget(server.baseURL).with { $0.validation = .successCodes }
            let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
            let data = try #require(error?.response?.data)
            #expect(data.count > 1 << 20 && data.count < 2 << 20, "\(data.count)")
            #expect(reason.starts(with: data))
        }
    }

    @Test("A status that is not accepted is an error before the body")
    func validation() async throws {
        let server = try TestServer { _ in .raw("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!") }
        let target = TestTarget(server.baseURL).with { $0.validation = .successCodes }
        let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
        #expect(error?.kind == .notFound)
        #expect(scope.inFlightCount == 0)
    }

    enum Means: CaseIterable, Sendable { case task, scope, provider, timeout, shutdown }

    @Test("A body that is waited for ends when the call does", arguments: Means.allCases)
    func cancelling(means: Means) async throws {
        let server = try server(rest: Gate())
        let provider = provider(timeout: .wholeCall(.seconds(30)))
        let stream = try await provider.stream(TestTarget(server.baseURL))
        let reading = Gate()
        let reader = Task { () -> TargetKitError? in
            var pieces = stream.makeAsyncIterator()
            do {
                _ = try await pieces.next()
                reading.open()
                _ = try await pieces.next()
                return nil
            } catch {
                return error as? TargetKitError
            }
        }
        await reading.wait()
        switch means {
        case .task: reader.cancel()
        case .scope: scope.cancelAll()
        case .provider: provider.cancelAll()
        case .timeout:
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(30))
        case .shutdown: await scope.shutdown(grace: .zero)
        }
        let error = try #require(await reader.value)
        #expect(error.kind == (means == .timeout ? .timedOut : .cancelled))
        #expect(error.response?.statusCode == 200)
        #expect(scope.inFlightCount == 0)
    }

    @Test("Letting go of a stream ends its call")
    func lettingGo() async throws {
        let server = try server(rest: Gate())
        var stream: ResponseStream? = try await provider().stream(TestTarget(server.baseURL))
        #expect(stream?.response.statusCode == 200)
        stream = nil
        await scope.shutdown(grace: .seconds(60))
        #expect(scope.inFlightCount == 0)
    }

    @Test("A body that breaks off is an error where it is read")
    func broken() async throws {
        let server = try TestServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ntea") }
        let stream = try await provider().stream(TestTarget(server.baseURL))
        var bytes = Data()
        let error = await #expect(throws: TargetKitError.self) {
            for try await piece in stream { bytes += piece }
        }
        #expect(bytes == Data("tea".utf8))
        #expect(error?.stage == .transport && error?.kind == .connectionLost)
        #expect(error?.response?.statusCode == 200)
        #expect(scope.inFlightCount == 0)
    }

    @Test("A stubbed stream gives its sample, and an answer that a plugin has made is streamed too")
    func stubs() async throws {
        let answering = RecordingPlugin(process: { _, _ in .success(Response(statusCode: 203, data: Data("own".utf8))) }
        )
        for (plugins, text) in [([], #"{"name":"tea"}"#), ([answering], "own")] as [([any Plugin], String)] {
            let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: plugins, scope: scope)
            let stream = try await provider.stream(TestTarget(.example))
            var bytes = Data()
            for try await piece in stream { bytes += piece }
            #expect(String(decoding: bytes, as: UTF8.self) == text)
        }
        #expect(scope.inFlightCount == 0)
    }

    @Test("A download into a file cannot be streamed")
    func download() async throws {
        let target = TestTarget(.example).with { $0.task = .plain.download(to: URL(filePath: "/nowhere")) }
        let error = await #expect(throws: TargetKitError.self) { try await provider().stream(target) }
        #expect(error?.underlying as? InvalidRequest == .streamedDownload)
    }
}
#endif

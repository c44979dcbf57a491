// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocketTesting
import TargetKitWebSocket
import TestSupport
import Testing

/// WebSockets whose server is a script.
@Suite("WebSockets of a script", .throttled, .timeLimit(.minutes(1)))
struct StubWebSocketTests {
    private let clock = ManualClock()
    private let feed = Feed()

    @Test("A second task that reads fails, and the first one gets the next message")
    func secondReader() async throws {
        let server = StubWebSocket { client in
            try await client.expect(.text("go"))
            client.send("tea")
            _ = try await client.receive()
        }
        let socket = try await Provider<Feed>(transport: server).webSocket(Feed())
        let results = Recorder<Bool>()
        for _ in 0..<2 {
            Task {
                var messages = socket.messages.makeAsyncIterator()
                results.append((try? await messages.next()) == .text("tea"))
            }
        }
        #expect(await results.waitForCount(1) == [false])
        try await socket.send("go")
        #expect(await results.waitForCount(2) == [false, true])
    }

    @Test("A connection that its call drops after the handshake is closed for the script")
    func dropped() async throws {
        struct Impatient: Plugin {
            func exchange(
                _ request: TransportRequest,
                context: RequestContext,
                next: Exchange
            ) async throws -> TransportResponse {
                _ = try await next(request)
                throw URLError(.timedOut)
            }
        }
        let ended = Expectation()
        let server = StubWebSocket { client in
            do { _ = try await client.receive() } catch { ended.fulfill() }
        }
        let provider = Provider<Feed>(transport: server, plugins: [Impatient()])
        await #expect(throws: TargetKitError.self) { try await provider.webSocket(feed) }
        await ended.wait()
    }

    @Test("A script expects and sends messages, and closes")
    func conversation() async throws {
        let server = StubWebSocket(clock: clock) { client in
            try await client.expect(.text("subscribe"))
            client.send("one")
            client.send(Data([2]))
            client.close(4001, reason: "enough")
        }
        let socket = try await Provider<Feed>(transport: server, clock: clock).webSocket(feed)
        try await socket.send("subscribe")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("one"))
        #expect(try await messages.next() == .data(Data([2])))
        let error = await #expect(throws: TargetKitError.self) { _ = try await messages.next() }
        #expect((error?.underlying as? WebSocketError)?.serverCode?.rawValue == 4001)
        #expect(socket.closeReason == "enough")
        #expect(server.failures.isEmpty)
    }

    @Test("An unexpected message ends the connection, and is a failure of the stub")
    func unexpected() async throws {
        let server = StubWebSocket { client in try await client.expect(.text("tea")) }
        let socket = try await Provider<Feed>(transport: server).webSocket(feed)
        try await socket.send("coffee")
        #expect(await socket.failure()?.kind == .connectionLost)
        #expect(server.failures == [#"Expected the text "tea", but the client sent the text "coffee"."#])
    }

    @Test("The handshake passes plugins, and the script can refuse it")
    func refusal() async throws {
        let refreshes = Recorder<String>()
        let plugin = AuthenticationPlugin(authenticator: Tokens(refreshes: refreshes)) { _ in }
        try await plugin.signIn("stale")
        let server = StubWebSocket(
            handshake: { request in
                let token = request.value(forHTTPHeaderField: "Authorization")
                return token == "Bearer fresh" ? nil : .response(status: 401, data: Data())
            },
            script: { client in client.send("welcome") }
        )
        let provider = Provider<Feed>(transport: server, plugins: [plugin])
        var messages = try await provider.webSocket(feed).messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("welcome"))
        #expect(server.requests.count == 2)
    }

    @Test("A sample does not answer a WebSocket, and nothing is sent")
    func sample() async throws {
        let server = StubWebSocket { _ in }
        let provider = Provider<Feed>(stubClosure: { _ in .immediate }, transport: server)
        let error = await #expect(throws: TargetKitError.self) { _ = try await provider.webSocket(feed) }
        #expect("\(String(describing: error))".contains("StubWebSocket"))
        #expect(server.requests.isEmpty)
    }

    @Test("What cannot be a handshake is refused with the reason")
    func invalid() async throws {
        let server = StubWebSocket { _ in }
        let provider = Provider<Feed>(transport: server)
        let targets = [
            Feed(method: .post), Feed(method: .post, task: .json(["a": 1])),
            Feed(task: .download(to: URL(filePath: "/tmp/never"))),
        ]
        for target in targets {
            let error = await #expect(throws: TargetKitError.self) { _ = try await provider.webSocket(target) }
            #expect(error?.stage == .request || error?.stage == .endpoint)
        }
        let error = await #expect(throws: TargetKitError.self) {
            _ = try await provider.webSocket(feed, options: .subprotocols("a, b"))
        }
        #expect(error?.description.contains("token") == true)
        let twice = await #expect(throws: TargetKitError.self) {
            _ = try await provider.webSocket(feed, options: .subprotocols("a", "a"))
        }
        #expect(twice?.description.contains("requested twice") == true)
        #expect(server.requests.isEmpty)
    }

    @Test("A transport that opens no WebSockets is named in the error")
    func transport() async throws {
        let provider = Provider<Feed>(transport: StubTransport(.response(status: 200, data: Data())))
        let error = await #expect(throws: TargetKitError.self) { _ = try await provider.webSocket(feed) }
        #expect(error?.stage == .request)
        #expect(error?.description.contains("StubTransport can't open WebSockets") == true)
    }

    @Test("A heartbeat without a pong ends the WebSocket when its time is over")
    func heartbeat() async throws {
        let server = StubWebSocket(clock: clock) { client in
            client.setAnswersPings(false)
            try await client.wait(for: .seconds(600))
        }
        let provider = Provider<Feed>(transport: server, clock: clock)
        let socket = try await provider.webSocket(feed, options: .heartbeat(every: .seconds(30), timeout: .seconds(10)))
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        try await clock.waitForSleepers(2)
        async let failure = socket.failure()
        clock.advance(by: .seconds(10))
        #expect(await failure?.kind == .timedOut)
    }

    @Test("Releasing a WebSocket ends the script")
    func release() async throws {
        let ended = Expectation()
        let server = StubWebSocket { client in
            do { _ = try await client.receive() } catch { ended.fulfill() }
        }
        _ = try await Provider<Feed>(transport: server).webSocket(feed)
        await ended.wait()
    }

    @Test("Shutting down the scope closes the WebSocket with 1001")
    func shutdown() async throws {
        let server = StubWebSocket { client in _ = try await client.receive() }
        let scope = RequestScope()
        let socket = try await Provider<Feed>(transport: server, scope: scope).webSocket(feed)
        await scope.shutdown(grace: .seconds(10))
        #expect(socket.closeCode == .goingAway)
    }
}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket
import TestSupport
import Testing

/// How WebSockets end, and that nothing of them is left.
@Suite("The end of WebSockets", .throttled, .needs(.websockets), .timeLimit(.minutes(3)))
struct LifetimeTests {
    private let peer = Peer.websockets

    @Test("Cancelling the task that reads ends the WebSocket")
    func reader() async throws {
        let socket = try await peer.provider().webSocket(peer.feed())
        let reading = Expectation()
        let task = Task {
            var messages = socket.messages.makeAsyncIterator()
            reading.fulfill()
            return try await messages.next()
        }
        await reading.wait()
        task.cancel()
        let error = await #expect(throws: TargetKitError.self) { _ = try await task.value }
        #expect(error?.stage == .cancelled)
        await #expect(throws: TargetKitError.self) { try await socket.send("too late") }
    }

    @Test("Cancelling the provider or its scope ends its WebSockets", arguments: [true, false])
    func cancelAll(isProvider: Bool) async throws {
        let scope = RequestScope()
        let provider = try peer.provider(scope: RequestScope(parent: scope))
        let other = try await peer.provider(scope: RequestScope(parent: scope)).webSocket(peer.feed())
        let socket = try await provider.webSocket(peer.feed())
        #expect(scope.inFlightCount == 0)
        if isProvider { provider.cancelAll() } else { scope.cancelAll() }
        #expect(await socket.failure()?.stage == .cancelled)
        if isProvider {
            try await other.send("still there")
        } else {
            #expect(await other.failure()?.stage == .cancelled)
        }
    }

    @Test("Shutting down the scope closes a WebSocket with 1001, and waits for it")
    func shutdown() async throws {
        let scope = RequestScope()
        let provider = try peer.provider(scope: RequestScope(parent: scope))
        let socket = try await provider.webSocket(peer.feed())
        await scope.shutdown(grace: .seconds(30))
        #expect(socket.closeCode == .goingAway)
        #expect(await socket.failure() == nil)
        let error = await #expect(throws: TargetKitError.self) { _ = try await provider.webSocket(peer.feed()) }
        #expect(error?.stage == .shutDown)
    }

    @Test("A server that does not answer the close frame does not outlive the grace period")
    func stubbornServer() async throws {
        let scope = RequestScope()
        let socket = try await peer.provider(scope: scope).webSocket(peer.feed("/silent"))
        let time = await ContinuousClock().measure { await scope.shutdown(grace: .milliseconds(100)) }
        #expect(time < .seconds(4))
        #expect(socket.closeCode == nil)
    }

    @Test("Cancelling a send that the server does not take returns, and the WebSocket can be closed")
    func stalledSend() async throws {
        let socket = try await peer.provider().webSocket(peer.feed("/silent"))
        let sends = (0..<3).map { _ in Task { try await socket.send(Data(count: 32 << 20)) } }
        try await Task.sleep(for: .milliseconds(100))
        for send in sends { send.cancel() }
        for send in sends {
            let error = await #expect(throws: TargetKitError.self) { try await send.value }
            #expect(error?.stage == .cancelled)
        }
    }

    @Test("Cancelling the handshake ends it at every stage", arguments: [0, 1, 5, 20])
    func handshake(delay: Int) async throws {
        let server = try TestServer { _ in [.wait(for: .seconds(60))] }
        let provider = Provider<Feed>()
        let task = Task { try await provider.webSocket(Feed(baseURL: server.baseURL)) }
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        task.cancel()
        let error = await #expect(throws: TargetKitError.self) { _ = try await task.value }
        #expect(error?.stage == .cancelled)
    }

    @Test("The timeouts of a call limit the handshake, and not the WebSocket")
    func timeout() async throws {
        let server = try TestServer { _ in [.wait(for: .seconds(60))] }
        let provider = Provider<Feed>()
        for timeout in [CallTimeout.exchange(.milliseconds(50)), .wholeCall(.milliseconds(50))] {
            let options = CallOptions.setting(\.timeout, timeout)
            let error = await #expect(throws: TargetKitError.self) {
                _ = try await provider.webSocket(Feed(baseURL: server.baseURL), options: options)
            }
            #expect(error?.kind == .timedOut)
        }
        let options = CallOptions.setting(\.timeout, CallTimeout(exchange: .seconds(2), wholeCall: .seconds(2)))
        let clock = ManualClock()
        let socket = try await Provider<Feed>(clock: clock).webSocket(peer.feed(), options: options)
        clock.advance(by: .seconds(3))
        try await socket.send("still there")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("still there"))
    }

    #if os(Linux)
    @Test("1,000 WebSockets at once, and no descriptor is left")
    func thousand() async throws {
        let transport = CurlTransport()
        let provider = Provider<Feed>(transport: transport)
        let port = try #require(peer.feed().baseURL.port)
        var names: Set<String> = []
        let options = CallOptions.setting(\.webSocketCompression, false)
        try await withThrowingTaskGroup(of: WebSocket.self) { [peer] group in
            for _ in 0..<1000 { group.addTask { try await provider.webSocket(peer.feed(), options: options) } }
            var sockets: [WebSocket] = []
            for try await socket in group { sockets.append(socket) }
            for socket in sockets { try await socket.send("hello") }
            for socket in sockets {
                var messages = socket.messages.makeAsyncIterator()
                #expect(try await messages.next() == .text("hello"))
            }
            names = try OpenSockets.names(to: port)
        }
        #expect(names.count >= 1000)
        // Those that are released are closed by the loop.
        await provider.scope.shutdown(grace: .seconds(30))
        try await OpenSockets.waitUntilClosed(names)
    }

    @Test("A WebSocket goes through a proxy by CONNECT", .needs(.tunnels), .needs(.nginxTLS), arguments: [true, false])
    func proxy(isSecure: Bool) async throws {
        let peer = isSecure ? Peer.nginxTLS : .websockets
        let counts = try await Peer.websockets.provider().webSocket(Peer.websockets.feed("/tunnels"))
        var before = counts.messages.makeAsyncIterator()
        let path = try #require(ProcessInfo.processInfo.environment["TARGETKIT_NGINX_CA"])
        let tls = TLSPolicy(trust: .authoritiesFile(URL(filePath: path)))
        let transport = CurlTransport(proxy: .url(ServerAvailability.tunnels.baseURL), tls: tls)
        let socket = try await Provider<Feed>(transport: transport).webSocket(peer.feed())
        try await socket.send("through a tunnel")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("through a tunnel"))
        var after = try await Peer.websockets.provider().webSocket(Peer.websockets.feed("/tunnels")).messages
            .makeAsyncIterator()
        #expect(try await before.next() != after.next())
    }

    @Test("A certificate that is not trusted ends the handshake", .needs(.nginxTLS))
    func untrusted() async throws {
        let error = await #expect(throws: TargetKitError.self) {
            _ = try await Provider<Feed>().webSocket(Peer.nginxTLS.feed())
        }
        #expect(error?.kind == .insecureConnection)
    }
    #endif

    @Test("A redirect of the handshake is followed", .needs(.nginx))
    func redirect() async throws {
        let feed = Feed(baseURL: ServerAvailability.nginx.baseURL, path: "/redirect/websocket")
        let socket = try await Provider<Feed>().webSocket(feed)
        #expect(socket.response.redirects.count == 1)
        try await socket.send("here")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("here"))
    }

    @Test("Calls beside WebSockets use their own connections", .needs(.nginx))
    func calls() async throws {
        let provider = Provider<Feed>()
        let socket = try await provider.webSocket(Peer.nginx.feed())
        for _ in 0..<20 {
            _ = try await provider.request(Feed(baseURL: ServerAvailability.nginx.baseURL, path: "/"))
            try await socket.send("and on")
        }
        var messages = socket.messages.makeAsyncIterator()
        for _ in 0..<20 { #expect(try await messages.next() == .text("and on")) }
    }
}

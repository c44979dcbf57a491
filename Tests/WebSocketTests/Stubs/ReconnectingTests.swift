// SPDX-License-Identifier: MIT
import TargetKit
@testable import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocketTesting
@testable import TargetKitWebSocket
import TestSupport
import Testing

/// WebSockets that are opened again.
@Suite("Reconnecting WebSockets", .throttled, .timeLimit(.minutes(1)))
struct ReconnectingTests {
    private let clock = ManualClock()
    private let feed = Feed()

    /// Delays without chance: 0.2, 0.4, 0.8 seconds and so on.
    private func backoff(
        _ policy: RetryPolicy = RetryPolicy(attempts: .max),
        reachability: Reachability? = nil,
        reconnects: (@Sendable (Result<WebSocketCloseCode?, TargetKitError>) -> Bool)? = nil
    ) -> WebSocketReconnection {
        var backoff = WebSocketReconnection.backoff(policy, reachability: reachability, reconnects: reconnects)
        backoff.share = { 1 }
        return backoff
    }

    @Test("It is opened again after each loss, and messages continue")
    func losses() async throws {
        let numbers = Locked(0)
        let server = StubWebSocket(clock: clock) { client in
            let number = numbers.withLock { number in
                number += 1
                return number
            }
            try await client.expect(.text("subscribe"))
            client.send("\(number)")
            if number < 3 { client.fail() } else { client.close() }
        }
        let provider = Provider<Feed>(transport: server, clock: clock)
        let isWatched = Gate()
        let socket = provider.webSocket(feed, reconnecting: backoff()) { socket in
            try await isWatched.waitUnlessCancelled()
            try await socket.send("subscribe")
        }
        let states = socket.states
        isWatched.open()
        async let texts = {
            var texts: [WebSocketMessage] = []
            for try await message in socket.messages { texts.append(message) }
            return texts
        }()
        for delay in [200, 400] {
            try await clock.waitForSleepers(1)
            #expect(clock.remainingSleeps == [.milliseconds(delay)])
            clock.advance(by: .milliseconds(delay))
        }
        #expect(try await texts == [.text("1"), .text("2"), .text("3")])
        var names: [String] = []
        for await state in states { names.append(state.name) }
        let round = ["connecting", "open", "waiting"]
        #expect(names == round + round + ["connecting", "open", "closed"])
        #expect(server.failures.isEmpty)
    }

    @Test("Delays double with each failure in a row, and a policy's attempts end it with the last failure")
    func delays() async throws {
        let server = StubWebSocket(clock: clock, handshake: { _ in throw URLError(.cannotConnectToHost) }) { _ in }
        let provider = Provider<Feed>(transport: server, clock: clock)
        let socket = provider.webSocket(feed, reconnecting: backoff(RetryPolicy(attempts: 4)))
        for delay in [200, 400, 800] {
            try await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(delay - 1))
            clock.advance(by: .milliseconds(1))
        }
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: TargetKitError.self) { _ = try await messages.next() }
        #expect(error?.kind == .cannotConnect)
        #expect(server.requests.count == 4)
        await #expect(throws: TargetKitError.self) { try await socket.send("too late") }
    }

    @Test("A server that closes each connection at once is a failure in a row; a connection that lasts ends the row")
    func shortConnections() async throws {
        let server = StubWebSocket(clock: clock) { client in
            try await client.expect(.text("close"))
            client.close(1013)
        }
        let provider = Provider<Feed>(transport: server, clock: clock)
        let opened = Recorder<Int>()
        let socket = provider.webSocket(feed, reconnecting: backoff(RetryPolicy(attempts: 4))) { _ in opened.append(1) }
        let rounds = [(0, 200), (0, 400), (799, 800), (1600, 200), (0, 400), (0, 800)]
        for (number, (openTime, delay)) in rounds.enumerated() {
            await opened.waitForCount(number + 1)
            while socket.current == nil { await Task.yield() }
            clock.advance(by: .milliseconds(openTime))
            try await socket.send("close")
            try await clock.waitForSleepers(1)
            #expect(clock.remainingSleeps == [.milliseconds(delay)], "\(number)")
            clock.advance(by: .milliseconds(delay))
        }
        await opened.waitForCount(7)
        while socket.current == nil { await Task.yield() }
        try await socket.send("close")
        for await state in socket.states { if case .closed = state { break } }
        #expect(server.requests.count == 7)
    }

    @Test("A rejected handshake is repeated when the server says, and not if that is too late", arguments: [30, 61])
    func retryAfter(seconds: Int) async throws {
        let server = StubWebSocket(
            clock: clock,
            handshake: { _ in .response(status: 503, headers: ["Retry-After": "\(seconds)"], data: Data()) },
            script: { _ in }
        )
        let provider = Provider<Feed>(transport: server, clock: clock)
        let socket = provider.webSocket(feed, reconnecting: backoff())
        if seconds <= 60 {
            try await clock.waitForSleepers(1)
            #expect(clock.remainingSleeps == [.seconds(seconds)])
            await socket.close()
        }
        for await state in socket.states { if case .closed = state { break } }
        #expect(server.requests.count == 1)
    }

    @Test("A cancellation that comes before the first handshake ends it")
    func cancelledAtStart() async {
        let loop = ReconnectionLoop(backoff(), target: feed, clock: clock, onOpen: { _ in }) {
            () async throws(TargetKitError) in
            throw TargetKitError(stage: .transport, underlying: URLError(.cannotConnectToHost))
        }
        loop.cancel()
        let socket = ReconnectingWebSocket(loop)
        for await state in socket.states { if case .closed = state { break } }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A permanent refusal closes it", arguments: [403, 404])
    func refused(status: Int) async throws {
        let server = StubWebSocket(handshake: { _ in .response(status: status, data: Data()) }) { _ in }
        let socket = Provider<Feed>(transport: server).webSocket(feed, reconnecting: backoff())
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: TargetKitError.self) { _ = try await messages.next() }
        #expect(error?.response?.statusCode == status)
        guard case .closed(let failure?) = socket.state else {
            Issue.record("it is not closed")
            return
        }
        #expect(failure.stage == .status)
    }

    @Test("A message waits for the connection")
    func waiting() async throws {
        let (isUp, received) = (Locked(false), Recorder<WebSocketMessage>())
        let server = StubWebSocket(
            clock: clock,
            handshake: { _ in isUp.withLock(\.self) ? nil : .response(status: 503, data: Data()) },
            script: { client in while true { received.append(try await client.receive()) } }
        )
        let socket = Provider<Feed>(transport: server, clock: clock).webSocket(feed, reconnecting: backoff())
        try await clock.waitForSleepers(1)
        async let sending: Void = socket.send("patience")
        isUp.withLock { $0 = true }
        clock.advance(by: .seconds(1))
        try await sending
        #expect(await received.waitForCount(1) == [.text("patience")])
        await socket.close()
    }

    @Test("Nothing is tried while the device is offline")
    func offline() async throws {
        let reachability = Reachability()
        reachability.set(.offline)
        let server = StubWebSocket { client in client.send("hello") }
        let reconnection = backoff(reachability: reachability)
        let socket = Provider<Feed>(transport: server).webSocket(feed, reconnecting: reconnection)
        for await state in socket.states { if case .waiting(until: nil) = state { break } }
        #expect(server.requests.isEmpty)
        reachability.set(.online(.wifi, isExpensive: false))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        await socket.close()
    }

    @Test("A network that is back ends the delay")
    func back() async throws {
        let reachability = Reachability()
        reachability.set(.online(.wifi, isExpensive: false))
        let server = StubWebSocket(clock: clock, handshake: { _ in throw URLError(.notConnectedToInternet) }) { _ in }
        let provider = Provider<Feed>(transport: server, clock: clock)
        let socket = provider.webSocket(feed, reconnecting: backoff(reachability: reachability))
        try await clock.waitForSleepers(1)
        #expect(server.requests.count == 1)
        reachability.set(.offline)
        reachability.set(.online(.wifi, isExpensive: false))
        while server.requests.count < 2, !Task.isCancelled { await Task.yield() }
        #expect(server.requests.count == 2)
        await socket.close()
    }

    @Test("Closing, cancelling the scope and releasing end it", arguments: ["close", "cancel", "shutdown", "release"])
    func ends(how: String) async throws {
        let (begun, ended) = (Expectation(), Expectation())
        let server = StubWebSocket(clock: clock) { client in
            begun.fulfill()
            do { _ = try await client.receive() } catch { ended.fulfill() }
        }
        let provider = Provider<Feed>(transport: server, clock: clock)
        var socket: ReconnectingWebSocket? = provider.webSocket(feed, reconnecting: backoff())
        await begun.wait()
        switch how {
        case "close": await socket?.close()
        case "cancel": provider.cancelAll()
        case "shutdown": await provider.scope.shutdown(grace: .seconds(10))
        default: socket = nil
        }
        await ended.wait()
        #expect(server.requests.count == 1)
        if let socket {
            for await state in socket.states { if case .closed = state { break } }
        }
    }

    @Test("A wait ends when the user is signed out, even if another one signs in", arguments: [true, false])
    func signedOut(wasOpen: Bool) async throws {
        let (token, fields) = (Locked("anna"), Recorder<String?>())
        let server = StubWebSocket(clock: clock) { request in
            fields.append(request.value(forHTTPHeaderField: "Authorization"))
            if !wasOpen { throw URLError(.cannotConnectToHost) }
            return nil
        } script: { client in
            client.fail()
        }
        let unauthorized = UnauthorizedPlugin { _ in token.withLock { $0 = "ben" } }
        let plugins: [any Plugin] = [AccessTokenPlugin { _ in token.withLock(\.self) }, unauthorized]
        let provider = Provider<Feed>(transport: server, plugins: plugins, clock: clock)
        let socket = provider.webSocket(feed, reconnecting: backoff())
        try await clock.waitForSleepers(1)
        let rejecting = StubTransport(.response(status: 401, data: Data()))
        _ = try? await Provider<Feed>(transport: rejecting, plugins: plugins).request(feed)
        #expect(token.withLock(\.self) == "ben")
        clock.advance(by: .seconds(1))
        for await state in socket.states {
            if case .closed = state { break }
            if clock.sleeperCount > 0 { clock.advance(by: .seconds(1)) }
            if fields.count > 1 { break }
        }
        #expect(fields.elements == ["Bearer anna"])
        await socket.close()
    }

    @Test("Cancelling the scope ends a wait, too")
    func cancelledWait() async throws {
        let server = StubWebSocket(clock: clock, handshake: { _ in throw URLError(.cannotConnectToHost) }) { _ in }
        let provider = Provider<Feed>(transport: server, clock: clock)
        let socket = provider.webSocket(feed, reconnecting: backoff())
        try await clock.waitForSleepers(1)
        provider.cancelAll()
        for await state in socket.states { if case .closed = state { break } }
        #expect(server.requests.count == 1)
        await provider.scope.shutdown(grace: .zero)
    }
}

extension WebSocketState {
    fileprivate var name: String {
        switch self {
        case .connecting: "connecting"
        case .open: "open"
        case .waiting: "waiting"
        case .closed: "closed"
        }
    }
}

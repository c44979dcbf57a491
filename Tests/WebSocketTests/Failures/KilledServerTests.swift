// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite(
    "Servers that are killed",
    .throttled,
    .enabled(if: KillableServer.isAvailable, "skipped: there is no python3"),
    .timeLimit(.minutes(2))
)
struct KilledServerTests {
    @Test("All that waits fails, nothing counts as sent, and no socket or connection of the scope is left")
    func killed() async throws {
        let server = try await KillableServer()
        let provider = Provider<Feed>(transport: CurlTransport())
        let options = CallOptions.setting(\.webSocketCompression, false)
        let socket = try await provider.webSocket(server.feed, options: options)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        let names = try OpenSockets.names(to: server.port)
        #expect(names.count == 1)
        let sent = Recorder<Int>()
        let sends = (0..<4)
            .map { number in
                Task {
                    try await socket.send(Data(count: 32 << 20))
                    sent.append(number)
                }
            }
        async let failure = socket.failure()
        await server.waitForBytes()
        server.kill()
        for send in sends {
            let error = await #expect(throws: TargetKitError.self) { try await send.value }
            #expect(error?.stage == .transport)
        }
        #expect(await failure?.kind == .connectionLost)
        #expect(sent.elements.isEmpty)
        await #expect(throws: TargetKitError.self) { try await socket.ping() }
        await provider.scope.shutdown(grace: .seconds(30))
        try await OpenSockets.waitUntilClosed(names)
    }

    @Test("A reconnecting WebSocket tells each state, and sends when there is a server again")
    func reconnects() async throws {
        let server = try await KillableServer()
        let provider = Provider<Feed>(transport: CurlTransport())
        var backoff = WebSocketReconnection.backoff(RetryPolicy(attempts: .max), reachability: nil)
        backoff.share = { 0.1 }
        let socket = provider.webSocket(server.feed, reconnecting: backoff)
        var states = socket.states.makeAsyncIterator()
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        var names = try OpenSockets.names(to: server.port)
        let current = try #require(socket.current)
        let lost = Task { try await current.send(Data(count: 64 << 20)) }
        server.kill()
        await #expect(throws: TargetKitError.self) { try await lost.value }
        while let state = await states.next() { if case .waiting = state { break } }
        // It waits for a connection, also while handshakes fail.
        async let late: Void = socket.send("late")
        let next = try await KillableServer(port: server.port)
        defer { next.kill() }
        while let state = await states.next() { if case .open = state { break } }
        #expect(try await messages.next() == .text("hello"))
        try await late
        names.formUnion(try OpenSockets.names(to: server.port))
        #expect(names.count == 2)
        provider.cancelAll()
        while let state = await states.next() { if case .closed = state { break } }
        await provider.scope.shutdown(grace: .seconds(30))
        try await OpenSockets.waitUntilClosed(names)
    }
}
#endif

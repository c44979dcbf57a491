// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A device that sleeps for a minute: the clock moves at once.
@Suite("WebSockets across a sleep", .timeLimit(.minutes(1)))
struct SleepTests {
    private let clock = ManualClock()
    private let heartbeat = CallOptions.heartbeat(every: .seconds(30), timeout: .seconds(10))

    @Test("After a sleep of 60 seconds, a heartbeat asks the server before it gives up")
    func awake() async throws {
        let server = try TestServer(response: .webSocket(.echo))
        let provider = Provider<Feed>(clock: clock)
        let socket = try await provider.webSocket(Feed(baseURL: server.baseURL), options: heartbeat)
        for _ in 0..<3 {
            // Not before the pong.
            while clock.remainingSleeps != [.seconds(30)] { await Task.yield() }
            clock.advance(by: .seconds(60))
            try await socket.send("still there")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("still there"))
        }
        await socket.close()
        #expect(socket.closeCode == .normal)
    }

    @Test("A server that is gone after the sleep is noticed, and another connection follows; each state is told")
    func gone() async throws {
        let connections = Locked(0)
        let server = try TestServer { _ in
            let number = connections.withLock { number in
                number += 1
                return number
            }
            return .webSocket(.send("\(number)"), .echo, options: .init { $0.answersPings = number > 1 })
        }
        let provider = Provider<Feed>(clock: clock)
        let reconnection = WebSocketReconnection.backoff(RetryPolicy(attempts: .max), reachability: nil)
        let feed = Feed(baseURL: server.baseURL)
        let socket = provider.webSocket(feed, reconnecting: reconnection, options: heartbeat)
        var states = socket.states.makeAsyncIterator()
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("1"))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        // The time for the pong is counted from the ping.
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        while let state = await states.next() { if case .waiting = state { break } }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await messages.next() == .text("2"))
        while let state = await states.next() { if case .open = state { break } }
        try await server.waitForClosedConnections(1)
        await socket.close()
        try await server.waitForClosedConnections(2)
        #expect(clock.sleeperCount == 0)
    }
}

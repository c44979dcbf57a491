// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A device that sleeps for a minute: the clock moves at once.
@Suite("WebSockets across a sleep", .throttled, .timeLimit(.minutes(1)))
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

    @Test("A heartbeat does not end a WebSocket whose large message takes longer than the pong may")
    func arriving() async throws {
        let text = String(repeating: "tea ", count: 25_000)
        let bytes = RawFrame.text(text).bytes
        let server = try TestServer(
            response: .webSocket(
                .bytes(Array(bytes[..<10_000])),
                .receive,
                .bytes(Array(bytes[10_000..<20_000])),
                .receive,
                .bytes(Array(bytes[20_000...])),
                .echo,
                options: .init { $0.answersPings = false }
            )
        )
        let socket = try await Provider<Feed>(clock: clock).webSocket(Feed(baseURL: server.baseURL), options: heartbeat)
        let frames = try #require(socket.session.connection as? FrameConnection)
        while frames.activityCount == 0 { await Task.yield() }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        try await clock.waitForSleepers(1)
        for _ in 0..<2 {
            let count = frames.activityCount
            try await socket.send("more")
            while frames.activityCount == count { await Task.yield() }
            clock.advance(by: .seconds(10))
            // Instead of an end, the time for the pong begins again.
            while clock.remainingSleeps != [.seconds(10)] { await Task.yield() }
        }
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text(text))
        await socket.close()
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

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("Control frames beside messages", .throttled, .timeLimit(.minutes(1)))
struct ControlFrameTests {
    private let connection = SlowConnection(room: 0, isHeld: true)

    @Test("A ping that meets an incomplete frame is sent after it, before the next frame of the message")
    func ping() async throws {
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        async let sending: Void = session.writer.send(.data(Data(count: 2 << 20)))
        await connection.hasWrite.wait()
        async let ping: Void = session.writer.send(ping: Data([7]))
        while await !session.writer.hasWaitingPings { await Task.yield() }
        connection.complete()
        try await ping
        try await sending
        #expect(connection.events == [.ping(Data([7])), .data(Data(count: 2 << 20))])
        session.cancel(.goingAway)
    }

    @Test("A ping that waits for a frame ends with the connection")
    func endedPing() async throws {
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        let sending = Task { try await session.writer.send(.data(Data(count: 2 << 20))) }
        await connection.hasWrite.wait()
        let ping = Task { try await session.writer.send(ping: Data([7])) }
        while await !session.writer.hasWaitingPings { await Task.yield() }
        await session.writer.end(with: URLError(.networkConnectionLost))
        await #expect(throws: URLError.self) { try await ping.value }
        connection.complete()
        _ = await sending.result
        session.cancel(.goingAway)
    }

    @Test("A server that sends pings without reading gets one pong at a time, at last that of the last ping")
    func pongs() async {
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        for number in 0..<100 { await session.writer.send(pong: Data([UInt8(number)])) }
        #expect(connection.events == [.pong(Data([0]))])
        connection.complete()
        while connection.events.count < 2 { await Task.yield() }
        #expect(connection.events == [.pong(Data([0])), .pong(Data([99]))])
        session.cancel(.goingAway)
    }

    @Test(
        "What is being sent when the server ends the connection fails with the reason, not as cancelled",
        arguments: [10, 2 << 20]
    )
    func interrupted(count: Int) async {
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        async let running: Void = session.run()
        let sending = Task { try await session.writer.send(.data(Data(count: count))) }
        await connection.hasWrite.wait()
        connection.end()
        let error = await #expect(throws: WebSocketError.self) { try await sending.value }
        #expect(error?.reason == .closedWithoutCloseFrame)
        await running
    }

    @Test("What is being sent when a WebSocket is closed without a response fails as closed", arguments: [10, 2 << 20])
    func closed(count: Int) async {
        let session = FrameSession(
            connection,
            .init(),
            WebSocketLimits(),
            closeTimeout: .milliseconds(1),
            clock: ContinuousClock()
        )
        async let running: Void = session.run()
        let sending = Task { try await session.writer.send(.data(Data(count: count))) }
        await connection.hasWrite.wait()
        await session.close(WebSocketClosing(code: 1000))
        let error = await #expect(throws: WebSocketError.self) { try await sending.value }
        #expect(error?.reason == .alreadyClosed)
        await running
    }
}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A connection in memory that takes some bytes at once, and the rest when the test lets it.
final class SlowConnection: ByteConnection {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        var isHeld: Bool
        var nowCount = 0
        var completions: [@Sendable ((any Error)?) -> Void] = []
    }

    private let room: Int
    private let state: Locked<State>
    private let closed = Expectation()
    /// Fulfilled by the second of the writes that wait.
    let hasTwoWrites = Expectation()
    let hasWrite = Expectation()

    init(room: Int, isHeld: Bool = false) {
        self.room = room
        state = Locked(State(isHeld: isHeld))
    }

    var bytes: [UInt8] { state.withLock(\.bytes) }
    /// What a server reads.
    var events: [WebSocketEvent] {
        var reader = WebSocketReader(role: .server)
        return reader.result(of: bytes).events
    }
    /// How often bytes were to be sent at once.
    var nowCount: Int { state.withLock(\.nowCount) }

    func read() async throws -> [UInt8]? {
        await closed.wait()
        return nil
    }

    func writeNow(_ bytes: [UInt8]) -> Int {
        state.withLock { state in
            state.nowCount += 1
            state.bytes += bytes.prefix(room)
            return min(room, bytes.count)
        }
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        let (isHeld, count) = state.withLock { state in
            state.bytes += bytes
            if state.isHeld { state.completions.append(completion) }
            return (state.isHeld, state.completions.count)
        }
        if !isHeld { completion(nil) }
        if count == 1 { hasWrite.fulfill() }
        if count == 2 { hasTwoWrites.fulfill() }
    }

    func complete() {
        let completions = state.withLock { state in
            state.isHeld = false
            defer { state.completions = [] }
            return state.completions
        }
        for completion in completions { completion(nil) }
    }

    /// The server ends the connection.
    func end() {
        closed.fulfill()
    }

    /// What is being sent ends as on libcurl's connection.
    func close(sending bytes: [UInt8]) {
        closed.fulfill()
        let completions = state.withLock { state in
            defer { state.completions = [] }
            return state.completions
        }
        for completion in completions { completion(URLError(.cancelled)) }
    }
}

@Suite("A lone sender", .throttled, .timeLimit(.minutes(2)))
struct LoneSenderTests {
    @Test("What the system doesn't take at once is sent before the next message", arguments: [0, 1, 7, 20, Int.max])
    func rest(room: Int) async throws {
        let connection = SlowConnection(room: room)
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        let large = Data(repeating: 7, count: 600_000)
        for text in ["one", "two", "three"] { try await session.writer.send(.text(text)) }
        try await session.writer.send(.data(large))
        var reader = WebSocketReader(role: .server)
        let result = reader.result(of: connection.bytes)
        let isEqual = result == ReadResult(events: [.text("one"), .text("two"), .text("three"), .data(large)])
        #expect(isEqual)
        session.cancel(.goingAway)
    }

    @Test("Tasks that send at the same time leave their messages to the connection, which can join them")
    func several() async throws {
        let connection = SlowConnection(room: 0, isHeld: true)
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        async let first: Void = session.writer.send(.text("first"))
        await connection.hasWrite.wait()
        async let second: Void = session.writer.send(.text("second"))
        await connection.hasTwoWrites.wait()
        #expect(connection.nowCount == 1)
        connection.complete()
        try await first
        try await second
        var reader = WebSocketReader(role: .server)
        #expect(reader.result(of: connection.bytes).events == [.text("first"), .text("second")])
        session.cancel(.goingAway)
    }
}

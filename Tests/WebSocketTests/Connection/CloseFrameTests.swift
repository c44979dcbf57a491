// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A connection in memory, which calls a closure before it takes each write.
private final class RecordedConnection: ByteConnection {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        var writeCount = 0
        var beforeWrite: @Sendable (_ index: Int) -> Void = { _ in }
    }

    private let state = Locked(State())
    private let closed = Expectation()

    var bytes: [UInt8] { state.withLock(\.bytes) }

    func beforeWrite(_ action: @escaping @Sendable (_ index: Int) -> Void) {
        state.withLock { $0.beforeWrite = action }
    }

    func read() async throws -> [UInt8]? {
        await closed.wait()
        return nil
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        let (index, beforeWrite) = state.withLock { state in
            defer { state.writeCount += 1 }
            return (state.writeCount, state.beforeWrite)
        }
        beforeWrite(index)
        state.withLock { $0.bytes += bytes }
        completion(nil)
    }

    func close(sending bytes: [UInt8]) {
        state.withLock { $0.bytes += bytes }
        closed.fulfill()
    }
}

@Suite("The close frame", .throttled, .timeLimit(.minutes(2)))
struct CloseFrameTests {
    /// What a server reads.
    private func frames(_ bytes: [UInt8]) -> ReadResult {
        var reader = WebSocketReader(role: .server)
        return reader.result(of: bytes)
    }

    @Test(
        "A WebSocket that is cancelled while it writes sends one close frame or none, and never within another frame",
        arguments: 0..<6
    )
    func cancelled(index: Int) async {
        let connection = RecordedConnection()
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        connection.beforeWrite { [weak session] in if $0 == index { session?.cancel(.goingAway) } }
        let running = Task { await session.run() }
        // Two frames in five slices, then a small message.
        try? await session.writer.send(.data(Data(count: 5 << 18)))
        try? await session.writer.send(.text("more"))
        session.cancel(.goingAway)
        session.cancel(WebSocketClosing(code: 1000))
        await running.value
        let result = frames(connection.bytes)
        #expect(result.failure == nil)
        let closes = result.events.filter { if case .close = $0 { true } else { false } }
        #expect(closes.count <= 1)
        if let close = closes.first { #expect(result.events.last == close) }
    }

    @Test("Nothing else uses the writer while it writes a frame", .serialized, arguments: [1, 1 << 20])
    func isolation(byteCount: Int) async throws {
        let connection = RecordedConnection()
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        let overlaps = Locked(0)
        connection.beforeWrite { [weak session] index in
            guard index == 0 else { return }
            let hasRun = DispatchSemaphore(value: 0)
            Task {
                await session?.writer.send(pong: Data())
                hasRun.signal()
            }
            if hasRun.wait(timeout: .now() + .milliseconds(200)) == .success { overlaps.withLock { $0 += 1 } }
        }
        try await session.writer.send(.data(Data(count: byteCount)))
        #expect(overlaps.withLock(\.self) == 0)
        session.cancel(.goingAway)
    }

    @Test("Shutting down a scope waits for the closing handshake of a WebSocket that reconnects")
    func shutdownOfReconnecting() async throws {
        let options = TestServer.WebSocketOptions { $0.bytesPerPart = 1 }
        let server = try TestServer(response: .webSocket(.echo, options: options))
        let scope = RequestScope()
        let provider = Provider<Feed>(scope: scope)
        let socket = provider.webSocket(
            Feed(baseURL: server.baseURL),
            reconnecting: .backoff(reachability: nil)
        )
        for await state in socket.states { if case .open = state { break } }
        let current = try #require(socket.current)
        await scope.shutdown(grace: .seconds(30))
        #expect(current.closeCode == .goingAway)
        for await state in socket.states { if case .closed(let failure) = state { #expect(failure == nil) } }
    }

    @Test("Shutting down a scope waits for the closing handshake, also while a task reads")
    func shutdown() async throws {
        // The answer takes some time.
        let options = TestServer.WebSocketOptions { $0.bytesPerPart = 1 }
        let server = try TestServer(response: .webSocket(.echo, options: options))
        let scope = RequestScope()
        let socket = try await Provider<Feed>(scope: scope).webSocket(Feed(baseURL: server.baseURL))
        let reading = Expectation()
        async let failure = {
            reading.fulfill()
            return await socket.failure()
        }()
        await reading.wait()
        await scope.shutdown(grace: .seconds(30))
        #expect(socket.closeCode == .goingAway)
        #expect(await failure == nil)
    }

    @Test("The close code is known when the method returns, whichever end begins", arguments: 0..<20)
    func bothEnds(round: Int) async throws {
        let server = try TestServer(response: .webSocket(.receive, .close(.goingAway)))
        let socket = try await Provider<Feed>().webSocket(Feed(baseURL: server.baseURL))
        try await socket.send("close")
        let reading = round.isMultiple(of: 2) ? Task { await socket.failure() } : nil
        for _ in 0..<(round / 2) { await Task.yield() }
        await socket.close(.normal)
        #expect(socket.closeCode == .goingAway || socket.closeCode == .normal)
        _ = await reading?.value
    }

    @Test("Why a server refuses a message is known although it resets the connection", arguments: 0..<10)
    func refusedMessage(round: Int) async throws {
        let response = TestServer.Response.webSocket(
            .stopReading,
            .wait(for: .milliseconds(20)),
            .bytes(RawFrame.close(1009).bytes),
            .reset
        )
        let server = try TestServer(response: response)
        let options = CallOptions.setting(\.webSocketCompression, false)
        let socket = try await Provider<Feed>().webSocket(Feed(baseURL: server.baseURL), options: options)
        let sending = Task { try await socket.send(Data(count: 32 << 20)) }
        let failure = await socket.failure()
        #expect((failure?.underlying as? WebSocketError)?.serverCode == .messageTooBig)
        #expect(socket.closeCode == .messageTooBig)
        await #expect(throws: TargetKitError.self) { try await sending.value }
    }

    @Test("A heartbeat that meets the closing handshake does not make a failure of it")
    func heartbeat() async throws {
        let clock = ManualClock()
        let log = WebSocketLog()
        let response = TestServer.Response.webSocket(
            .send("last"),
            .close(.goingAway),
            options: .init { $0.log = log }
        )
        let server = try TestServer(response: response)
        let provider = Provider<Feed>(clock: clock)
        let options = CallOptions.heartbeat(every: .seconds(30), timeout: .seconds(10))
        let socket = try await provider.webSocket(Feed(baseURL: server.baseURL), options: options)
        #expect(try await log.closing(at: 0).code == 1001)
        clock.advance(by: .seconds(30))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("last"))
        #expect(try await messages.next() == nil)
        #expect(socket.closeCode == .goingAway)
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// Reads the connection of a WebSocket to its end, responds to pings and the closing handshake, and delivers messages.
final class FrameSession: Sendable {
    private struct State: Sendable {
        /// The bytes that arrived together with the response of the handshake, until they are read.
        var earlyBytes: [UInt8]?
        /// The close frame of the server.
        var received: WebSocketClosing?
        /// Whether this side started to close the connection, or cancelled it.
        var isClosing = false
        /// The pings that wait for their pongs, by number.
        var pings: [UInt64: SendCompletion] = [:]
        var lastPing: UInt64 = 0
        /// The calls that wait for the end of the connection.
        var waiters: [SendCompletion] = []
        var hasTimeout = false
        var timeout: Task<Void, Never>?
        var isEnded = false
        /// Called when the connection ends.
        var onEnd: (@Sendable () -> Void)?
    }

    /// The maximum number of bytes that are decompressed, to up to 1,030 times as many, before messages wait to be
    /// consumed.
    private static let compressedSize = 16 << 10

    let agreement: WebSocketHandshake.Agreement
    let inbox = MessageInbox()
    let writer: FrameWriter
    private let connection: any ByteConnection
    private let limits: WebSocketLimits
    private let clock: any Clock<Duration>
    /// The time that the server has to respond to a close frame, and then to end the connection.
    private let closeTimeout: Duration
    /// Counts the pieces that were received, and those of messages that were sent.
    private let activity = Locked(0 as UInt64)
    private let state: Locked<State>

    init(
        _ connection: any ByteConnection,
        _ agreement: WebSocketHandshake.Agreement,
        _ limits: WebSocketLimits,
        received: [UInt8] = [],
        closeTimeout: Duration = .seconds(5),
        clock: any Clock<Duration>
    ) {
        self.connection = connection
        self.agreement = agreement
        self.clock = clock
        self.limits = limits
        self.closeTimeout = closeTimeout
        state = Locked(State(earlyBytes: received.isEmpty ? nil : received))
        writer = FrameWriter(connection, deflate: agreement.deflate, activity: activity)
    }

    /// Changes when bytes arrive, or when the system accepts a part of a large message.
    var activityCount: UInt64 { activity.withLock(\.self) }

    var closing: WebSocketClosing? { state.withLock(\.received) }

    /// Reads until the end of the connection.
    func run() async {
        var reader = WebSocketReader(role: .client, limits: limits, deflate: agreement.deflate)
        var received = state.withLock { $0.earlyBytes.take() }
        do {
            if received == nil { received = try await connection.read() }
            while let bytes = received {
                activity.withLock { $0 += 1 }
                let size = agreement.deflate == nil ? bytes.count : Self.compressedSize
                for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
                    try await read(bytes[start...].prefix(size), by: &reader)
                }
                received = try await connection.read()
            }
            if !state.withLock(\.isClosing) { try reader.finish() }
            await end(nil)
        } catch {
            await end(error)
        }
    }

    /// Reads bytes, and waits until there is room for their messages.
    private func read(_ bytes: ArraySlice<UInt8>, by reader: inout WebSocketReader) async throws(WebSocketError) {
        var events: [WebSocketEvent] = []
        let error = bytes.withUnsafeBytes { bytes -> WebSocketError? in
            do throws(WebSocketError) {
                try reader.read(bytes) { events.append($0) }
                return nil
            } catch {
                return error
            }
        }
        await handle(events)
        if let error, error.reason != .dataAfterClose { throw error }
    }

    private func handle(_ events: [WebSocketEvent]) async {
        var messages: [WebSocketMessage] = []
        messages.reserveCapacity(events.count)
        for event in events {
            switch event {
            case .text(let text): messages.append(.text(text))
            case .data(let data): messages.append(.data(data))
            case .ping(let payload): await writer.send(pong: payload)
            case .pong(let payload): notePong(payload)
            case .close(let code, let reason):
                await inbox.add(messages)
                messages = []
                await noteClose(WebSocketClosing(code: (code ?? .noStatus).rawValue, reason: reason))
            }
        }
        await inbox.add(messages)
    }

    /// Responds to the server's close frame, and waits for the server to end the connection (RFC 6455 §7.1.1).
    private func noteClose(_ closing: WebSocketClosing) async {
        state.withLock { $0.received = closing }
        // Sent before the messages end, because the WebSocket can be released and cancelled afterwards.
        await writer.close(WebSocketClosing(code: closing.code))
        inbox.finish(.success(()))
        startTimeout()
    }

    /// Closes the connection if the server doesn't respond in time.
    private func startTimeout() {
        let isNeeded = state.withLock { state in
            defer { state.hasTimeout = true }
            return !state.hasTimeout
        }
        guard isNeeded else { return }
        let timeout = Task { [clock, closeTimeout, connection] in
            guard (try? await clock.wait(for: closeTimeout)) != nil else { return }
            connection.close(sending: [])
        }
        let isEnded = state.withLock { state in
            state.timeout = timeout
            return state.isEnded
        }
        if isEnded { timeout.cancel() }
    }

    /// Ends everything that waits.
    private func end(_ error: (any Error)?) async {
        let isCancelled = state.withLock { $0.isClosing && $0.received == nil }
        // Before the connection is closed, so that senders receive the reason.
        await writer.end(with: error ?? WebSocketError.alreadyClosed)
        if let error = error as? WebSocketError, let code = error.closeCode, code.maySend, !isCancelled {
            cancel(WebSocketClosing(code: code.rawValue, reason: error.message), error)
        } else {
            inbox.finish(error.map(Result.failure) ?? .success(()))
            connection.close(sending: [])
        }
        let (pings, waiters, onEnd) = state.withLock { state in
            state.isEnded = true
            state.timeout?.cancel()
            defer { (state.pings, state.waiters, state.onEnd) = ([:], [], nil) }
            return (state.pings.values, state.waiters, state.onEnd)
        }
        for ping in pings { ping.finish(error ?? WebSocketError.alreadyClosed) }
        // Before the waiters, because the scope and the heartbeat have ended when `close()` returns.
        onEnd?()
        for waiter in waiters { waiter.finish(nil) }
    }

    /// Sets the closure to call when the connection ends, or calls it immediately if it has ended.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.onEnd = action }
            return state.isEnded
        }
        if isEnded { action() }
    }
}

// MARK: - Pings and the closing handshake

extension FrameSession {
    /// Sends a ping, and returns when a pong for it or a later ping arrives.
    func ping() async throws {
        let pong = SendCompletion()
        let number = state.withLock { state -> UInt64? in
            guard !state.isEnded, state.received == nil else { return nil }
            state.lastPing += 1
            state.pings[state.lastPing] = pong
            return state.lastPing
        }
        guard let number else { throw WebSocketError.alreadyClosed }
        defer { state.withLock { _ = $0.pings.removeValue(forKey: number) } }
        try await writer.send(ping: withUnsafeBytes(of: number.bigEndian) { Data($0) })
        try await pong.wait()
    }

    private func notePong(_ payload: Data) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        // A number that wasn't sent is no response to a ping (RFC 6455 §5.5.3).
        let pongs = state.withLock { state in
            number > state.lastPing ? [:] : state.pings.filter { $0.key <= number }
        }
        for pong in pongs.values { pong.finish(nil) }
    }

    /// Performs the closing handshake, and returns when the connection ends.
    func close(_ closing: WebSocketClosing) async {
        let end = SendCompletion()
        let isEnded = state.withLock { state in
            state.isClosing = true
            if !state.isEnded { state.waiters.append(end) }
            return state.isEnded
        }
        if isEnded { return }
        // Later messages are discarded, and must not wait for room.
        inbox.finish(.success(()))
        await writer.close(closing)
        startTimeout()
        try? await end.wait()
    }

    /// Closes the connection immediately, with a close frame unless one was sent or another frame is incomplete.
    ///
    /// - Parameter error: The error for the reader.
    func cancel(_ closing: WebSocketClosing, _ error: any Error = CancellationError()) {
        state.withLock { $0.isClosing = true }
        // Before the reader is resumed, because it may close the WebSocket with another code.
        let mayClose = writer.endFrames()
        inbox.finish(.failure(error))
        connection.close(sending: mayClose ? closing.frame : [])
    }
}

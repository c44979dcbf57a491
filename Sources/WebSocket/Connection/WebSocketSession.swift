// SPDX-License-Identifier: MIT
import TargetKit

/// An open WebSocket with its heartbeat, as part of its scope.
final class WebSocketSession: Sendable {
    private struct State: Sendable {
        /// The reason why this side ended the WebSocket.
        var failure: (any Error)?
        /// Whether this side started the closing handshake.
        var isClosing = false
        var entry: ScopeEntry?
        var heartbeat: Task<Void, Never>?
        var isEnded = false
    }

    let connection: any MessageConnection
    let response: Response
    let clock: any Clock<Duration>
    private let elapsed: ElapsedTime
    private let target: any TargetType
    private let state = Locked(State())

    init(
        _ connection: any MessageConnection,
        _ response: Response,
        _ context: RequestContext,
        clock: any Clock<Duration>
    ) {
        self.connection = connection
        self.response = response
        self.clock = clock
        elapsed = ElapsedTime(clock)
        target = context.target
    }

    /// The connection, if TargetKit implements its frames. It reports its end, and whether reading is suspended.
    private var frames: FrameConnection? { connection as? FrameConnection }

    /// Starts the heartbeat, and stores the entry in the scope.
    func begin(as entry: ScopeEntry, heartbeat: WebSocketHeartbeat?) {
        let task = heartbeat.map { heartbeat in Task { await self.beat(heartbeat) } }
        let isEnded = state.withLock { state in
            if !state.isEnded { (state.entry, state.heartbeat) = (entry, task) }
            return state.isEnded
        }
        if isEnded {
            entry.end()
            task?.cancel()
        }
        frames?.onEnd { [weak self] in self?.noteEnd() }
    }

    /// Notes that the connection is closed.
    private func noteEnd() {
        let (entry, heartbeat) = state.withLock { state in
            state.isEnded = true
            defer { (state.entry, state.heartbeat) = (nil, nil) }
            return (state.entry, state.heartbeat)
        }
        heartbeat?.cancel()
        entry?.end()
    }

    /// Closes the WebSocket without waiting.
    ///
    /// - Parameter error: The error for waiting calls.
    func cancel(with error: any Error) {
        state.withLock { state in
            if !state.isEnded, state.failure == nil { state.failure = error }
        }
        connection.cancel(.goingAway)
        if frames == nil { noteEnd() }
    }

    func close(_ closing: WebSocketClosing) async {
        // The server may have started to close it first.
        if connection.closing == nil { state.withLock { $0.isClosing = true } }
        await connection.close(closing)
        if frames == nil { noteEnd() }
    }

    func receive() async throws(TargetKitError) -> WebSocketMessage? {
        do {
            if let message = try await connection.receive() { return message }
            if frames == nil { noteEnd() }
            let (failure, isClosing) = state.withLock { ($0.failure, $0.isClosing) }
            if let failure { throw failure }
            if let closing = connection.closing, !isClosing, !closing.isRegular {
                throw WebSocketError.closedByServer(closing)
            }
            return nil
        } catch let error as WebSocketError where error.reason == .alreadyRead {
            throw failure(error)
        } catch {
            // Cancelling the reading task closes the WebSocket.
            if Task.isCancelled { cancel(with: error) }
            if frames == nil { noteEnd() }
            throw failure(error)
        }
    }

    func send(_ message: WebSocketMessage) async throws(TargetKitError) {
        try checkIsOpen()
        do { try await connection.send(message) } catch { throw failure(error) }
    }

    func ping() async throws(TargetKitError) -> Duration {
        try checkIsOpen()
        let start = elapsed.current
        do { try await connection.ping() } catch { throw failure(error) }
        return elapsed.current - start
    }

    /// Throws if this side has ended the WebSocket, even if its connection is still being closed.
    private func checkIsOpen() throws(TargetKitError) {
        if let error = state.withLock(\.failure) { throw failure(error) }
    }

    /// The error for the caller, which is the reason why this side ended the WebSocket, or else the given error.
    func failure(_ error: any Error, at stage: TargetKitError.Stage = .transport) -> TargetKitError {
        let error = state.withLock(\.failure) ?? error
        if let error = error as? TargetKitError { return error }
        let isCancelled = error is CancellationError || (error as? URLError)?.code == .cancelled
        return TargetKitError(
            stage: isCancelled ? .cancelled : stage,
            target: target,
            request: response.request,
            response: response,
            underlying: error
        )
    }
}

// MARK: - The heartbeat

extension WebSocketSession {
    private func beat(_ heartbeat: WebSocketHeartbeat) async {
        while (try? await clock.wait(for: heartbeat.interval)) != nil {
            // The pong would arrive behind the messages.
            if frames?.isFull == true { continue }
            do {
                try await pong(within: heartbeat.timeout)
            } catch {
                if Task.isCancelled || isBeingClosed { return }
                cancel(with: error)
                return
            }
        }
    }

    /// Whether either side has sent a close frame, after which no pong is required.
    private var isBeingClosed: Bool { connection.closing != nil || state.withLock(\.isClosing) }

    private func pong(within timeout: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.connection.ping() }
            group.addTask {
                var count: UInt64?
                repeat {
                    count = self.frames?.activityCount
                    try await self.clock.wait(for: timeout)
                    // The ping or the pong can be behind bytes that are on their way, or that aren't consumed.
                } while self.frames?.activityCount != count || self.frames?.isFull == true
                throw WebSocketError(.noPong, "no pong arrived within \(timeout)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension WebSocketClosing {
    /// Whether the code indicates a regular close: 1000, 1001, or no code.
    var isRegular: Bool {
        [.normal, .goingAway, .noStatus].contains(WebSocketCloseCode(rawValue: code))
    }
}

extension WebSocketError {
    static func closedByServer(_ closing: WebSocketClosing) -> Self {
        let code = WebSocketCloseCode(rawValue: closing.code)
        var error = Self(.closedByServer, "the server closed the WebSocket with the code \(code)")
        error.serverCode = code
        return error
    }
}

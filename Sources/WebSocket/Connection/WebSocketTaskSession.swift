// SPDX-License-Identifier: MIT
import TargetKit

/// The operations of URLSession's task for a WebSocket, which implements the protocol itself and responds to pings.
///
/// A completion is called once, several times (a ping's, if the connection is lost), or never.
protocol WebSocketTask: Sendable {
    func receive(_ completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void)
    func send(_ message: WebSocketMessage, completion: @escaping @Sendable ((any Error)?) -> Void)
    /// Sends a ping. The completion is called when its pong arrives.
    func ping(completion: @escaping @Sendable ((any Error)?) -> Void)
    /// Sends a close frame, and ends the task.
    func cancel(_ closing: WebSocketClosing)
    /// Ends the task.
    func cancel()
}

/// A WebSocket of a task, from its handshake to its end, which ends every call that waits.
final class WebSocketTaskSession: Sendable {
    /// How long the server has to complete the closing handshake, and the task to report why a call failed.
    static let timeout = Duration.seconds(5)

    private let clock: any Clock<Duration>
    private let state: Locked<WebSocketTaskState>

    /// - Parameter clock: Measures ``timeout``.
    init(_ url: URL, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        state = Locked(WebSocketTaskState(url))
    }

    var subprotocol: String? { state.withLock(\.subprotocol) }

    var closing: WebSocketClosing? { state.withLock(\.received) }

    /// Waits for the end of the handshake. Cancelling the caller's task ends it.
    ///
    /// - Parameter begin: Starts the task.
    /// - Returns: The head of the response, with any status.
    func open(begin: () -> Void) async throws -> ResponseHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { opening in
                let end = state.withLock { state in
                    if state.end == nil { state.opening = opening }
                    return state.end
                }
                if case .failure(let error) = end { return opening.resume(throwing: error) }
                begin()
            }
        } onCancel: {
            failHandshake(URLError(.cancelled))
        }
    }

    /// Sets the task, or cancels it if the WebSocket already ended.
    func attach(_ task: any WebSocketTask) {
        let isEnded = state.withLock { state in
            if state.end == nil { state.task = task }
            return state.end != nil
        }
        if isEnded { task.cancel() }
    }

    /// Ends the handshake with an error, if it is in progress.
    func failHandshake(_ error: any Error) {
        if !state.withLock(\.isOpen) { fail(error) }
    }

    /// Ends the WebSocket with an error.
    func fail(_ error: any Error) {
        change { $0.end(with: error) }?.cancel()
    }

    /// Changes the state, resumes the calls whose results are then known, and returns the task.
    @discardableResult
    private func change(_ change: (inout WebSocketTaskState) -> Void) -> (any WebSocketTask)? {
        let (ready, opening, end, task) = state.withLock { state in
            change(&state)
            let opening = state.end == nil ? nil : state.opening.take()
            if state.end != nil { state.timer.take()?.cancel() }
            return (state.takeReady(), opening, state.end, state.task)
        }
        for (waiter, result) in ready { waiter.resume(with: result) }
        if let opening, let end {
            opening.resume(with: end.flatMap { .failure(URLError(.networkConnectionLost)) })
        }
        return task
    }
}

// MARK: - Calls

extension WebSocketTaskSession {
    /// Returns the next message; `nil` after a closing handshake.
    func receive() async throws -> WebSocketMessage? {
        try await perform(.receive)
    }

    func send(_ message: WebSocketMessage) async throws {
        _ = try await perform(.send(message))
    }

    func ping() async throws {
        _ = try await perform(.ping)
    }

    /// Performs the closing handshake, and returns when the task ends, after ``timeout``, or when the caller's task is
    /// cancelled.
    func close(_ closing: WebSocketClosing) async {
        change { $0.isClosing = true }?.cancel(closing)
        startTimer()
        _ = try? await perform(.end)
    }

    /// Closes the WebSocket without waiting, and ends every call.
    func cancel(_ closing: WebSocketClosing) {
        change { $0.end(with: CancellationError()) }?.cancel(closing)
    }

    /// Waits for the task's answer, for the end, or for the cancellation of the caller's task.
    private func perform(_ operation: WebSocketTaskState.Operation) async throws -> WebSocketMessage? {
        let number = state.withLock { $0.nextNumber() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let (known, task) = state.withLock { ($0.add(operation, number: number, waiter), $0.task) }
                if let known { return waiter.resume(with: known) }
                switch operation {
                case .receive: receiveNext()
                case .send(let message): task?.send(message) { [self] in finish(number, $0) }
                case .ping: task?.ping { [self] in finish(number, $0) }
                case .end: break
                }
            }
        } onCancel: {
            state.withLock { $0.remove(number) }?.resume(throwing: CancellationError())
        }
    }

    private func receiveNext() {
        state.withLock { $0.taskToReceive() }?.receive { [self] result in
            switch result {
            case .success(let message):
                state.withLock { $0.take(message) }?.resume(returning: message)
                receiveNext()
            case .failure(let error): noteFailure(error)
            }
        }
    }

    /// Ends a call with the task's answer, unless it already ended.
    private func finish(_ number: UInt64, _ error: (any Error)?) {
        let (waiter, lost) = state.withLock { ($0.remove(number), error.map($0.lost)) }
        if let error { noteFailure(error) }
        if let lost { waiter?.resume(throwing: lost) } else { waiter?.resume(returning: nil) }
    }

    /// Notes that a call of the task failed. An event of the task tells why.
    private func noteFailure(_ error: any Error) {
        guard Self.isMessageTooLong(error) else {
            change { $0.fail(error) }
            return startTimer()
        }
        // The task doesn't end by itself.
        let task = change { state in
            state.end(with: state.error(.dataLengthExceedsMaximum, "a message exceeds the limit of its size"))
        }
        task?.cancel(WebSocketClosing(code: 1009))
    }

    private static func isMessageTooLong(_ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == NSPOSIXErrorDomain && error.code == Int(EMSGSIZE)
    }

    /// Ends the WebSocket after ``timeout``, unless its task ends first.
    private func startTimer() {
        state.withLock { state in
            guard state.timer == nil, state.end == nil else { return }
            state.timer = Task { [clock] in
                guard (try? await clock.wait(for: Self.timeout)) != nil else { return }
                self.change { $0.end(taskError: nil) }?.cancel()
            }
        }
    }
}

// MARK: - Events of the task

extension WebSocketTaskSession {
    /// Notes the end of a successful handshake.
    func didOpen(_ head: ResponseHead, subprotocol: String?) {
        let opening = state.withLock { state in
            state.isOpen = true
            state.subprotocol = subprotocol
            return state.opening.take()
        }
        opening?.resume(returning: head)
    }

    /// Notes the close frame of the server.
    func didClose(_ closing: WebSocketClosing) {
        change { $0.close(closing) }
        startTimer()
    }

    /// Notes the end of the task.
    ///
    /// - Parameter head: The head of the response to the handshake; `nil` if there was none.
    func didComplete(_ head: ResponseHead?, error: (any Error)?) {
        let refused = head?.statusCode == 101 ? nil : head
        let opening = state.withLock { refused == nil ? nil : $0.opening.take() }
        change { state in
            state.end(taskError: error)
            state.task = nil
        }
        if let refused { opening?.resume(returning: refused) }
    }
}

/// The handle of a WebSocket of a task. Releasing it closes the WebSocket.
final class WebSocketTaskConnection: MessageConnection {
    private let session: WebSocketTaskSession

    init(_ session: WebSocketTaskSession) {
        self.session = session
    }

    deinit {
        session.cancel(WebSocketClosing(code: 1001))
    }

    var subprotocol: String? { session.subprotocol }

    var closing: WebSocketClosing? { session.closing }

    func receive() async throws -> WebSocketMessage? { try await session.receive() }

    func send(_ message: WebSocketMessage) async throws { try await session.send(message) }

    func ping() async throws { try await session.ping() }

    func close(_ closing: WebSocketClosing) async { await session.close(closing) }

    func cancel(_ closing: WebSocketClosing) { session.cancel(closing) }
}

#if !canImport(FoundationNetworking)
extension WebSocketTaskSession: URLSessionWebSocketEvents {
    func didCreate(_ task: URLSessionWebSocketTask) {
        attach(URLSessionWebSocketOperations(task: task))
    }

    func didClose(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        let text = reason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        didClose(WebSocketClosing(code: UInt16(exactly: code.rawValue) ?? 1005, reason: text))
    }
}
#endif

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

/// The client's side of a WebSocket of a script. Releasing it closes the WebSocket.
final class StubWebSocketConnection: MessageConnection {
    let subprotocol: String?
    private let channel: StubWebSocketChannel

    init(_ channel: StubWebSocketChannel, subprotocol: String?) {
        self.channel = channel
        self.subprotocol = subprotocol
    }

    deinit {
        channel.end(.failure(CancellationError()), byClient: true)
    }

    var closing: WebSocketClosing? { channel.closing }

    func receive() async throws -> WebSocketMessage? {
        try await channel.received.next()
    }

    func send(_ message: WebSocketMessage) async throws {
        try channel.send(message)
    }

    func ping() async throws {
        try await channel.ping()
    }

    func close(_ closing: WebSocketClosing) async {
        // The server responds with the same code (RFC 6455 §5.5.1).
        channel.end(.success(closing), byClient: true)
    }

    func cancel(_ closing: WebSocketClosing) {
        channel.end(.failure(CancellationError()), byClient: true)
    }
}

/// A WebSocket between a script and the code under test.
final class StubWebSocketChannel: Sendable {
    private struct State: Sendable {
        var closing: WebSocketClosing?
        var isEnded = false
        var answersPings = true
        /// The calls that wait for a pong.
        var pings: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastPing = 0
        var onClose: (@Sendable () -> Void)?
    }

    /// The messages of the server.
    let received = MessageQueue()
    /// The messages of the client.
    let sent = MessageQueue()
    private let state = Locked(State())

    var closing: WebSocketClosing? { state.withLock(\.closing) }

    func send(_ message: WebSocketMessage) throws {
        try Task.checkCancellation()
        guard !state.withLock(\.isEnded) else { throw URLError(.networkConnectionLost) }
        sent.add(message)
    }

    func ping() async throws {
        let number = state.withLock { state in
            state.lastPing += 1
            return state.lastPing
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.isEnded { return .failure(URLError(.networkConnectionLost)) }
                    if state.answersPings { return .success(()) }
                    state.pings[number] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.pings.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    func setAnswersPings(_ answers: Bool) {
        let pings = state.withLock { state in
            state.answersPings = answers
            guard answers else { return [] as [CheckedContinuation<Void, any Error>] }
            defer { state.pings = [:] }
            return Array(state.pings.values)
        }
        for ping in pings { ping.resume() }
    }

    /// Sets the closure to call when the client closes the WebSocket.
    func onClose(_ action: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.onClose = action }
            return state.isEnded
        }
        if isEnded { action() }
    }

    /// Ends the WebSocket with a close frame or an error. Only the first call has an effect.
    func end(_ end: Result<WebSocketClosing, any Error>, byClient: Bool = false) {
        let (pings, onClose) = state.withLock { state in
            guard !state.isEnded else { return ([], nil) as ([CheckedContinuation<Void, any Error>], (() -> Void)?) }
            state.isEnded = true
            if case .success(let closing) = end { state.closing = closing }
            defer { (state.pings, state.onClose) = ([:], nil) }
            return (Array(state.pings.values), state.onClose)
        }
        for ping in pings { ping.resume(throwing: URLError(.networkConnectionLost)) }
        received.finish(end.map { _ in })
        sent.finish(.success(()))
        if byClient { onClose?() }
    }
}

/// A queue of messages.
final class MessageQueue: Sendable {
    private struct State: Sendable {
        var messages: [WebSocketMessage] = []
        var reader: (number: Int, continuation: CheckedContinuation<WebSocketMessage?, any Error>)?
        var lastReader = 0
        var end: Result<Void, any Error>?
    }

    private let state = Locked(State())

    func add(_ message: WebSocketMessage) {
        let reader = state.withLock { state -> CheckedContinuation<WebSocketMessage?, any Error>? in
            guard state.end == nil else { return nil }
            if let reader = state.reader.take() { return reader.continuation }
            state.messages.append(message)
            return nil
        }
        reader?.resume(returning: message)
    }

    /// Returns the next message; `nil` at the end.
    func next() async throws -> WebSocketMessage? {
        let number = state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<WebSocketMessage?, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.messages.isEmpty { return .success(state.messages.removeFirst()) }
                    if let end = state.end { return end.map { nil } }
                    guard state.reader == nil else {
                        return .failure(ExpectationFailure("Another task waits for the next message."))
                    }
                    state.reader = (number, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let reader = state.withLock { $0.reader?.number == number ? $0.reader.take() : nil }
            reader?.continuation.resume(throwing: CancellationError())
        }
    }

    func finish(_ end: Result<Void, any Error>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.reader.take()
        }
        reader?.continuation.resume(with: end.map { nil })
    }
}

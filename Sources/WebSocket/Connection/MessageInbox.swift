// SPDX-License-Identifier: MIT
import TargetKit

/// The messages that have arrived and not been taken.
final class MessageInbox: Sendable {
    /// The size of the messages, with ``overhead`` for each, at which the connection isn't read any more.
    private static let limit = 1 << 20
    private static let overhead = 64

    private struct State: Sendable {
        var messages: [WebSocketMessage] = []
        /// The index of the first one that wasn't taken.
        var first = 0
        var size = 0
        var receiver: UnsafeContinuation<WebSocketMessage?, any Error>?
        /// The task that reads the connection, while there is no room.
        var reader: UnsafeContinuation<Void, Never>?
        var end: Result<Void, any Error>?

        mutating func takeFirst() -> WebSocketMessage? {
            guard first < messages.count else { return nil }
            let message = messages[first]
            messages[first] = .text("")
            first += 1
            size -= message.byteCount + MessageInbox.overhead
            if first == messages.count {
                messages.removeAll(keepingCapacity: messages.count <= 1024)
                first = 0
            }
            return message
        }
    }

    private typealias Receiver = UnsafeContinuation<WebSocketMessage?, any Error>

    private let state = Locked(State())

    /// Whether the connection isn't read because messages aren't taken.
    var isFull: Bool { state.withLock { $0.reader != nil } }

    /// Adds messages that have arrived together, and waits until there is room for more.
    func add(_ messages: [WebSocketMessage]) async {
        if messages.isEmpty { return }
        let (delivery, isFull) = state.withLock { state -> ((Receiver, WebSocketMessage?)?, Bool) in
            guard state.end == nil else { return (nil, false) }
            if state.messages.isEmpty { state.messages = messages } else { state.messages += messages }
            state.size += messages.reduce(0) { $0 + $1.byteCount + Self.overhead }
            let delivery = state.receiver.take().map { ($0, state.takeFirst()) }
            return (delivery, state.size >= Self.limit)
        }
        if let (receiver, message) = delivery { receiver.resume(returning: message) }
        if isFull { await waitForRoom() }
    }

    private func waitForRoom() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { reader in
                let isFull = state.withLock { state in
                    let isFull = state.size >= Self.limit && state.end == nil && !Task.isCancelled
                    if isFull { state.reader = reader }
                    return isFull
                }
                if !isFull { reader.resume() }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume()
        }
    }

    /// Returns the next message; `nil` at the end.
    func next() async throws -> WebSocketMessage? {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { receiver in
                var reader: UnsafeContinuation<Void, Never>?
                let result = state.withLock { state -> Result<WebSocketMessage?, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let message = state.takeFirst() {
                        if state.size <= Self.limit / 2 { reader = state.reader.take() }
                        return .success(message)
                    }
                    if let end = state.end { return end.map { nil } }
                    guard state.receiver == nil else { return .failure(WebSocketError.alreadyRead) }
                    state.receiver = receiver
                    return nil
                }
                reader?.resume()
                if let result { receiver.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.receiver.take() }?.resume(throwing: CancellationError())
        }
    }

    /// Ends the sequence after the messages that have arrived. Only the first end counts.
    func finish(_ end: Result<Void, any Error>) {
        let (receiver, reader) = state.withLock { state -> (Receiver?, UnsafeContinuation<Void, Never>?) in
            guard state.end == nil else { return (nil, state.reader.take()) }
            state.end = end
            return (state.receiver.take(), state.reader.take())
        }
        receiver?.resume(with: end.map { nil })
        reader?.resume()
    }
}

extension WebSocketError {
    static let alreadyRead = Self(.alreadyRead, "another task waits for the next message")
}

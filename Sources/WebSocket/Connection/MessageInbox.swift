// SPDX-License-Identifier: MIT
import TargetKit

/// The received messages that haven't been consumed.
final class MessageInbox: Sendable {
    /// The size of the messages, including ``overhead`` for each, at which reading is suspended.
    private static let limit = 1 << 20
    private static let overhead = 64

    private struct State: Sendable {
        var messages: [WebSocketMessage] = []
        /// The index of the first unconsumed message.
        var first = 0
        var size = 0
        var receiver: Receiver?
        /// The number of the task that last waited for a message.
        var lastReceiver: UInt64 = 0
        /// The task that reads the connection, while it waits for room.
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
            } else if first > 1024, first > messages.count / 2 {
                // A reader that is always behind never empties it.
                messages.removeFirst(first)
                first = 0
            }
            return message
        }
    }

    /// A task that waits for a message. Its number differs from that of a task that was cancelled before.
    private struct Receiver: Sendable {
        let number: UInt64
        let continuation: UnsafeContinuation<WebSocketMessage?, any Error>
    }

    /// A message or the end; or else the task has to wait, with this number.
    private enum Next {
        case result(Result<WebSocketMessage?, any Error>)
        case wait(number: UInt64)
    }

    private let state = Locked(State())

    /// Whether reading is suspended because messages aren't consumed.
    var isFull: Bool { state.withLock { $0.reader != nil } }

    /// Whether a task waits for a message.
    var hasReceiver: Bool { state.withLock { $0.receiver != nil } }

    /// The number of messages and of places of consumed ones.
    var storedCount: Int { state.withLock(\.messages.count) }

    /// Adds messages that arrived together, and waits until there is room for more.
    func add(_ messages: [WebSocketMessage]) async {
        if messages.isEmpty { return }
        let (delivery, isFull) = state.withLock { state -> ((Receiver, WebSocketMessage?)?, Bool) in
            guard state.end == nil else { return (nil, false) }
            if state.messages.isEmpty { state.messages = messages } else { state.messages += messages }
            state.size += messages.reduce(0) { $0 + $1.byteCount + Self.overhead }
            let delivery = state.receiver.take().map { ($0, state.takeFirst()) }
            return (delivery, state.size >= Self.limit)
        }
        if let (receiver, message) = delivery { receiver.continuation.resume(returning: message) }
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
        switch takeNext() {
        case .result(let result): return try result.get()
        case .wait(let number): return try await next(number: number)
        }
    }

    private func next(number: UInt64) async throws -> WebSocketMessage? {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                if case .result(let result) = takeNext(for: Receiver(number: number, continuation: continuation)) {
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            let receiver = state.withLock { $0.receiver?.number == number ? $0.receiver.take() : nil }
            receiver?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Takes the next message or the end, if there is one. Otherwise, stores the receiver if there is one.
    private func takeNext(for receiver: Receiver? = nil) -> Next {
        let (next, reader) = state.withLock { state -> (Next, UnsafeContinuation<Void, Never>?) in
            if Task.isCancelled { return (.result(.failure(CancellationError())), nil) }
            if let message = state.takeFirst() {
                return (.result(.success(message)), state.size <= Self.limit / 2 ? state.reader.take() : nil)
            }
            if let end = state.end { return (.result(end.map { nil }), nil) }
            guard state.receiver == nil else { return (.result(.failure(WebSocketError.alreadyRead)), nil) }
            if let receiver {
                state.receiver = receiver
                return (.wait(number: receiver.number), nil)
            }
            state.lastReceiver += 1
            return (.wait(number: state.lastReceiver), nil)
        }
        reader?.resume()
        return next
    }

    /// Ends the sequence after the received messages. Only the first call has an effect.
    func finish(_ end: Result<Void, any Error>) {
        let (receiver, reader) = state.withLock { state -> (Receiver?, UnsafeContinuation<Void, Never>?) in
            guard state.end == nil else { return (nil, state.reader.take()) }
            state.end = end
            return (state.receiver.take(), state.reader.take())
        }
        receiver?.continuation.resume(with: end.map { nil })
        reader?.resume()
    }
}

extension WebSocketError {
    static let alreadyRead = Self(.alreadyRead, "another task waits for the next message")
}

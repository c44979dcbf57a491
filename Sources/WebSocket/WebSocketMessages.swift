// SPDX-License-Identifier: MIT
import TargetKit

extension WebSocket {
    /// The messages of the server, in order. One loop can read at a time; a later one continues where the last one
    /// stopped.
    ///
    /// The sequence ends when either side closes the WebSocket with 1000, 1001 or no code. Any other end is an error.
    /// Cancelling the reading task closes the WebSocket with 1001.
    ///
    /// While about 1 MiB of messages wait for the reader, reading from the connection is suspended, so that a slow
    /// reader slows down the server. The WebSocket then also doesn't respond to pings.
    public var messages: WebSocketMessages { WebSocketMessages(socket: self) }

    /// The messages of the server, decoded from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of each message.
    ///   - decoder: Decodes them; default: a `JSONDecoder` with its default settings.
    public func messages<Value: Decodable & Sendable>(
        of type: Value.Type,
        decoder: JSONDecoder = JSONDecoder()
    ) -> WebSocketValues<Value> {
        WebSocketValues(messages: messages, decoder: decoder)
    }
}

/// The messages of a ``WebSocket``.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// Reads ``WebSocketMessages``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: WebSocket

        /// Returns the next message; `nil` at the end.
        ///
        /// - Throws: `TargetKitError` of stage `.transport` if the connection is lost, the server violates the
        ///   protocol, or closes the WebSocket with an error code; or `.cancelled`.
        public mutating func next() async throws(TargetKitError) -> WebSocketMessage? {
            try await socket.session.receive()
        }
    }

    fileprivate let socket: WebSocket

    /// Creates an iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }
}

/// The messages of a ``WebSocket``, decoded from JSON.
public struct WebSocketValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// Reads ``WebSocketValues``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var messages: WebSocketMessages.Iterator
        fileprivate let decoder: JSONDecoder

        /// Returns the next value; `nil` at the end.
        ///
        /// - Throws: `TargetKitError` of stage `.decoding` if a message can't be decoded, after which the next one can
        ///   be read; otherwise the errors of ``WebSocketMessages/Iterator/next()``.
        public mutating func next() async throws(TargetKitError) -> Value? {
            guard let message = try await messages.next() else { return nil }
            do {
                return try decoder.decode(Value.self, from: message.bytes)
            } catch {
                throw messages.socket.session.failure(error, at: .decoding)
            }
        }
    }

    fileprivate let messages: WebSocketMessages
    fileprivate let decoder: JSONDecoder

    /// Creates an iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> Iterator {
        Iterator(messages: messages.makeAsyncIterator(), decoder: decoder)
    }
}

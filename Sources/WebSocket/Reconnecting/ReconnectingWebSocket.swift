// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A WebSocket that reconnects when its connection is lost.
///
/// ```swift
/// let feed = provider.webSocket(.feed, reconnecting: .backoff()) { socket in
///     try await socket.send(Subscription(symbols: ["TEA"]))
/// }
/// for try await quote in feed.messages(of: Quote.self) { show(quote) }
/// ```
///
/// Messages that the server sends while there is no connection are lost. ``send(_:)-(String)`` waits for a connection.
/// Releasing the object and the sequences of its messages closes it, as does cancelling or shutting down its scope.
public final class ReconnectingWebSocket: Sendable {
    let loop: ReconnectionLoop
    private let task: Task<Void, Never>

    init(_ loop: ReconnectionLoop) {
        self.loop = loop
        task = Task { await loop.run() }
        loop.onEnd { [task] in task.cancel() }
    }

    deinit {
        task.cancel()
    }

    /// The current state.
    public var state: WebSocketState { loop.status.value.state }

    /// A sequence of the current state and all later states, in order. It ends after ``WebSocketState/closed(_:)``.
    /// Each reader needs its own sequence.
    public var states: AsyncStream<WebSocketState> { loop.states() }

    /// The open WebSocket; `nil` while there is none.
    public var current: WebSocket? { loop.status.value.socket }

    /// Sends a text message, after waiting for a connection.
    ///
    /// The call fails if the connection is lost before the system accepts the message. The server may have received
    /// none, part, or all of it.
    ///
    /// - Throws: The `TargetKitError` of the connection, or the one that closed the WebSocket.
    public func send(_ text: String) async throws(TargetKitError) {
        try await loop.openSocket().send(text)
    }

    /// Sends a binary message, as ``send(_:)-(String)`` does.
    ///
    /// - Throws: `TargetKitError`.
    public func send(_ data: Data) async throws(TargetKitError) {
        try await loop.openSocket().send(data)
    }

    /// Sends a value as JSON in a text message, as ``send(_:)-(String)`` does.
    ///
    /// - Throws: `TargetKitError`.
    public func send(
        _ value: some Encodable & Sendable,
        encoder: JSONEncoder = JSONEncoder()
    ) async throws(TargetKitError) {
        try await loop.openSocket().send(value, encoder: encoder)
    }

    /// Closes the WebSocket, as ``WebSocket/close(_:reason:)`` does. It isn't opened again.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async {
        await loop.close(code, reason: reason)
        task.cancel()
        await task.value
    }
}

extension ReconnectingWebSocket {
    /// The messages of all connections, in order. One loop can read at a time.
    ///
    /// The sequence ends when the WebSocket is closed permanently, with the failure if there is one. Cancelling the
    /// reading task ends the loop, but the WebSocket remains open.
    public var messages: ReconnectingMessages { ReconnectingMessages(socket: self) }

    /// The messages of all connections, decoded from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of each message.
    ///   - decoder: Decodes them; default: a `JSONDecoder` with its default settings.
    public func messages<Value: Decodable & Sendable>(
        of type: Value.Type,
        decoder: JSONDecoder = JSONDecoder()
    ) -> AsyncThrowingMapSequence<ReconnectingMessages, Value> {
        messages.map { message in
            do {
                return try decoder.decode(Value.self, from: message.bytes)
            } catch {
                throw TargetKitError(stage: .decoding, underlying: error)
            }
        }
    }
}

/// The messages of a ``ReconnectingWebSocket``.
public struct ReconnectingMessages: AsyncSequence, Sendable {
    /// Reads ``ReconnectingMessages``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: ReconnectingWebSocket

        /// Returns the next message; `nil` at the end.
        ///
        /// - Throws: The `TargetKitError` that closed the WebSocket permanently, or `.cancelled`.
        public mutating func next() async throws(TargetKitError) -> WebSocketMessage? {
            try await socket.loop.receive()
        }
    }

    fileprivate let socket: ReconnectingWebSocket

    /// Creates an iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }
}

extension Provider {
    /// Returns a WebSocket that opens immediately, and reconnects whenever its connection is lost.
    ///
    /// It belongs to the user with whose credential it was first opened, as far as a plugin names the user
    /// (`RequestContext.credentialOwner`). When another user signs in, or the user signs out, it doesn't reconnect, but
    /// is closed with an error. This also applies when an `UnauthorizedPlugin` signs the user out.
    ///
    /// - Parameters:
    ///   - target: The target of each handshake.
    ///   - reconnection: When and how often to reconnect, for example `.backoff()`.
    ///   - options: Override the target's and the provider's options; default: none. Without a heartbeat, a lost
    ///     connection can remain undetected.
    ///   - onOpen: Called with each open WebSocket before other code can use it, for example to send subscriptions;
    ///     default: does nothing. An error that it throws closes the connection, and counts as its failure.
    public func webSocket(
        _ target: Target,
        reconnecting reconnection: WebSocketReconnection,
        options: CallOptions = CallOptions(),
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        let options = options.ofOneUser
        let loop = ReconnectionLoop(reconnection, target: target, clock: clock, onOpen: onOpen) {
            () async throws(TargetKitError) in
            try await self.webSocket(target, options: options)
        }
        loop.entry.withLock {
            $0 = keep(for: target, options: options, onShutdown: { loop.shutDown() }, onCancel: { loop.cancel() })
        }
        return ReconnectingWebSocket(loop)
    }
}

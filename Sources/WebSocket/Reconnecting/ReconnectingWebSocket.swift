// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A WebSocket that is opened again when its connection is lost.
///
/// ```swift
/// let feed = provider.webSocket(.feed, reconnecting: .backoff()) { socket in
///     try await socket.send(Subscription(symbols: ["TEA"]))
/// }
/// for try await quote in feed.messages(of: Quote.self) { show(quote) }
/// ```
///
/// What the server sends while there is no connection is lost; what was to be sent isn't: ``send(_:)-(String)`` waits
/// for a connection. Releasing the object, with the sequences of its messages, closes it, as do cancelling or shutting
/// down its scope.
public final class ReconnectingWebSocket: Sendable {
    let loop: ReconnectionLoop
    private let task: Task<Void, Never>

    init(_ loop: ReconnectionLoop) {
        self.loop = loop
        task = Task { await loop.run() }
        loop.end.withLock { $0 = { [task] in task.cancel() } }
    }

    deinit {
        task.cancel()
    }

    /// What it does at present.
    public var state: WebSocketState { loop.status.value.state }

    /// The present state, then every change, in order. Each reader needs a sequence of its own. It ends after
    /// ``WebSocketState/closed(_:)``.
    public var states: AsyncStream<WebSocketState> { loop.states() }

    /// The open WebSocket; `nil` while there is none.
    public var current: WebSocket? { loop.status.value.socket }

    /// Sends a text message, after waiting for a connection.
    ///
    /// If the connection is lost before the system has taken the message, it fails. Whether the server has received a
    /// part of it, or all, isn't known then.
    ///
    /// - Throws: `TargetKitError`: that of the connection, or that for which the WebSocket was closed.
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
    /// The messages of all connections, in order. One loop reads at a time.
    ///
    /// The sequence ends when the WebSocket is closed and not opened again, with the failure if there is one.
    /// Cancelling the task that reads ends the loop, and the WebSocket remains open.
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
        /// - Throws: `TargetKitError`: why the WebSocket isn't opened again; `.cancelled`.
        public mutating func next() async throws(TargetKitError) -> WebSocketMessage? {
            try await socket.loop.receive()
        }
    }

    fileprivate let socket: ReconnectingWebSocket

    /// Creates an iterator that continues where the last one has stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }
}

extension Provider {
    /// Returns a WebSocket that is opened now, and again whenever its connection is lost.
    ///
    /// - Parameters:
    ///   - target: The call of each handshake.
    ///   - reconnection: When it is opened again, for example `.backoff()`.
    ///   - options: Override the target's and the provider's options; default: none. Without a heartbeat, a lost
    ///     connection can remain unnoticed.
    ///   - onOpen: Called with each open WebSocket before others use it, to send subscriptions, for example; default:
    ///     nothing. An error that it throws closes that connection, and counts as its failure.
    public func webSocket(
        _ target: Target,
        reconnecting reconnection: WebSocketReconnection,
        options: CallOptions = CallOptions(),
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        let loop = ReconnectionLoop(reconnection, target: target, clock: clock, onOpen: onOpen) {
            () async throws(TargetKitError) in
            try await self.webSocket(target, options: options)
        }
        loop.scoped.withLock { $0 = keepConnection(to: target) { loop.end($0) } }
        return ReconnectingWebSocket(loop)
    }
}

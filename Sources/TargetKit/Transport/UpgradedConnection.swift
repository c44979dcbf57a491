// SPDX-License-Identifier: MIT

/// A connection that was switched to the protocol of the request's `Upgrade` field (RFC 9110 §7.8), as the body of a
/// response with status 101.
public enum UpgradedConnection: Sendable {
    /// The bytes that follow the head of the response, in both directions. The caller implements the protocol.
    case bytes(any ByteConnection)
    /// The messages of a WebSocket. The transport implements the protocol (RFC 6455) and checks the response.
    case messages(any MessageConnection)
}

/// The bytes of an upgraded connection.
///
/// Releasing the connection closes it.
public protocol ByteConnection: AnyObject, Sendable {
    /// Waits for bytes, and returns all received ones; `nil` when the server ends its side or the connection is closed.
    /// One task can read at a time.
    ///
    /// While no task reads, the transport buffers a limited number of bytes, and then stops reading from the server.
    ///
    /// - Throws: A `URLError`; `CancellationError` when the task is cancelled.
    func read() async throws -> [UInt8]?

    /// Starts sending bytes after the bytes of earlier calls. Any thread may write.
    ///
    /// A sender that doesn't wait for the completion before it sends more uses memory for all that waits.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send.
    ///   - completion: Called once, on any thread, when the system has accepted the bytes, or with a `URLError`.
    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Sends bytes as far as the system takes them at once, unless earlier ones wait to be sent.
    ///
    /// This saves a lone sender the wait for the thread on which ``write(_:completion:)`` sends. Senders that wait
    /// together are better served by that method, which sends their bytes together. Default: sends nothing.
    ///
    /// - Returns: The number of bytes that were sent; 0 also if the connection is closed or lost.
    func writeNow(_ bytes: [UInt8]) -> Int

    /// Closes the connection, without waiting. Waiting tasks end. Has no effect on a closed connection.
    ///
    /// - Parameter bytes: The bytes to send first, after queued bytes, as far as the system accepts them immediately.
    func close(sending bytes: [UInt8])
}

extension ByteConnection {
    /// Sends nothing.
    public func writeNow(_ bytes: [UInt8]) -> Int { 0 }
}

/// The messages of a WebSocket whose protocol a transport implements.
///
/// Releasing the connection closes it.
public protocol MessageConnection: AnyObject, Sendable {
    /// The subprotocol that the server selected; `nil` if there is none.
    var subprotocol: String? { get }

    /// The close frame of the connection; `nil` while it is open, or if it ended without a close frame.
    var closing: WebSocketClosing? { get }

    /// Returns the next message, after waiting for it; `nil` when the connection was closed by a closing handshake. One
    /// task receives at a time.
    ///
    /// - Throws: A `URLError` or an error of the protocol; `CancellationError` when the task is cancelled.
    func receive() async throws -> WebSocketMessage?

    /// Sends a message, and returns when the system has accepted it. Any task may send.
    func send(_ message: WebSocketMessage) async throws

    /// Sends a ping, and returns when its pong arrives.
    func ping() async throws

    /// Performs the closing handshake (RFC 6455 §7.1.2), and returns when the connection is closed. Cancelling the task
    /// ends the wait.
    func close(_ closing: WebSocketClosing) async

    /// Closes the connection without waiting. A close frame is sent if that is possible immediately.
    func cancel(_ closing: WebSocketClosing)
}

/// A message of a WebSocket (RFC 6455 §5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case data(Data)
}

/// The content of a close frame (RFC 6455 §5.5.1).
public struct WebSocketClosing: Sendable, Hashable {
    /// The status code (RFC 6455 §7.4); 1005 if the frame had none.
    public var code: UInt16
    /// The reason; empty if there is none. At most 123 bytes of UTF-8 are sent.
    public var reason: String

    /// Creates the content of a close frame.
    public init(code: UInt16, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

extension UpgradedConnection: RedactedDescription {
    /// The kind of connection.
    package var redactedDescription: String {
        switch self {
        case .bytes: "a connection"
        case .messages: "a WebSocket"
        }
    }
}

extension WebSocketMessage: RedactedDescription {
    /// The kind and the size, because the content can be secret.
    package var redactedDescription: String {
        switch self {
        case .text(let text): "text, \(text.utf8.count) bytes"
        case .data(let data): "data, \(data.count) bytes"
        }
    }
}

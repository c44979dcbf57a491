// SPDX-License-Identifier: MIT
import Foundation

/// A connection whose server has switched to the protocol of the request's `Upgrade` field (RFC 9110 §7.8): the body of
/// a response with status 101.
public enum UpgradedConnection: Sendable {
    /// The bytes that follow the head of the response, in both directions. The caller implements the protocol.
    case bytes(any ByteConnection)
    /// The messages of a WebSocket. The transport implements the protocol (RFC 6455), and has checked the response.
    case messages(any MessageConnection)
}

/// The bytes of an upgraded connection.
///
/// Releasing the connection closes it.
public protocol ByteConnection: AnyObject, Sendable {
    /// Returns the bytes that have arrived, never empty, after waiting for the first ones; `nil` when the server has
    /// ended its side or the connection was closed. One task reads at a time.
    ///
    /// While nobody reads, the transport buffers a limited number of bytes, and then stops reading from the server.
    ///
    /// - Throws: A `URLError`; `CancellationError` when the task is cancelled.
    func read() async throws -> [UInt8]?

    /// Begins to send bytes, after those of earlier calls. Any thread may write.
    ///
    /// A sender that doesn't wait for the completion before it sends more uses memory for all that waits.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send.
    ///   - completion: Called once, on any thread, when the system has taken the bytes, or with a `URLError`.
    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Closes the connection, without waiting. Waiting tasks end. Has no effect on a closed connection.
    ///
    /// - Parameter bytes: Sent before, with what is still to be written, as far as the system takes them at once.
    func close(sending bytes: [UInt8])
}

/// The messages of a WebSocket whose protocol a transport implements.
///
/// Releasing the connection closes it.
public protocol MessageConnection: AnyObject, Sendable {
    /// The subprotocol that the server has selected; `nil`: none.
    var subprotocol: String? { get }

    /// How the connection has been closed; `nil` while it is open, or if it ended without a close frame.
    var closing: WebSocketClosing? { get }

    /// Sets the maximum size of a message that is received, in bytes. Called once, before the first message is received.
    /// Default: has no effect.
    func limitMessages(to byteCount: Int)

    /// Returns the next message, after waiting for it; `nil` when the connection was closed by a closing handshake. One
    /// task receives at a time.
    ///
    /// - Throws: A `URLError` or an error of the protocol; `CancellationError` when the task is cancelled.
    func receive() async throws -> WebSocketMessage?

    /// Sends a message, and returns when the system has taken it. Any task may send.
    func send(_ message: WebSocketMessage) async throws

    /// Sends a ping, and returns when its pong arrives.
    func ping() async throws

    /// Begins the closing handshake (RFC 6455 §7.1.2), and returns when it has ended and the connection is closed.
    /// Cancelling the task ends the wait.
    func close(_ closing: WebSocketClosing) async

    /// Closes the connection, without waiting; a close frame is sent if that is possible at once.
    func cancel(_ closing: WebSocketClosing)
}

extension MessageConnection {
    /// Has no effect.
    public func limitMessages(to byteCount: Int) {}
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

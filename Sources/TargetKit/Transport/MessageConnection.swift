// SPDX-License-Identifier: MIT

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

extension WebSocketMessage: RedactedDescription {
    /// The kind and the size, because the content can be secret.
    package var redactedDescription: String {
        switch self {
        case .text(let text): "text, \(text.utf8.count) bytes"
        case .data(let data): "data, \(data.count) bytes"
        }
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

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

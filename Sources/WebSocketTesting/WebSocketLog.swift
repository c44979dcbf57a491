// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

/// The messages and frames that a `TestServer` receives over WebSockets, in order.
///
/// ```swift
/// let log = WebSocketLog()
/// let server = try TestServer(response: .webSocket(.echo, options: .init { $0.log = log }))
/// …
/// #expect(try await log.message(at: 0) == .text("subscribe"))
/// ```
public final class WebSocketLog: Sendable {
    let received = Recorder<WebSocketMessage>()
    let closed = Recorder<WebSocketClosing>()
    let failed = Recorder<String>()
    let pongs = Recorder<Data>()

    /// Creates an empty log. Several WebSockets can share it.
    public init() {}

    /// The messages so far.
    public var messages: [WebSocketMessage] { received.elements }

    /// The close frames so far. One without a code has the code 1005.
    public var closings: [WebSocketClosing] { closed.elements }

    /// Unmet expectations and protocol violations. Empty in a passing test.
    public var failures: [String] { failed.elements }

    /// Waits for the message with an index.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func message(at index: Int) async throws -> WebSocketMessage { try await received.element(index) }

    /// Waits for the close frame with an index.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func closing(at index: Int) async throws -> WebSocketClosing { try await closed.element(index) }

    /// Waits for the payload of the pong with an index.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func pong(at index: Int) async throws -> Data { try await pongs.element(index) }
}

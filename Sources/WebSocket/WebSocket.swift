// SPDX-License-Identifier: MIT
import TargetKit

/// An open WebSocket (RFC 6455).
///
/// ```swift
/// let socket = try await provider.webSocket(.feed)
/// try await socket.send(Subscription(symbols: ["TEA"]))
/// for try await quote in socket.messages(of: Quote.self) { show(quote) }
/// ```
///
/// It belongs to the scope of its provider: cancelling the provider or the scope ends it, and
/// `RequestScope.shutdown(grace:)` closes it and waits for it. Releasing it, with the sequences of its messages, closes
/// it too.
public final class WebSocket: Sendable {
    let session: WebSocketSession

    init(_ session: WebSocketSession) {
        self.session = session
    }

    deinit {
        session.cancel(with: CancellationError())
    }

    /// The response of the handshake, with status 101.
    public var response: Response { session.response }

    /// The subprotocol that the server has selected; `nil`: none.
    public var subprotocol: String? { session.connection.subprotocol }

    /// The code of the server's close frame; `nil` before it arrives, or if the connection ended without one.
    public var closeCode: WebSocketCloseCode? {
        session.connection.closing.map { WebSocketCloseCode(rawValue: $0.code) }
    }

    /// The reason in the server's close frame; `nil` if there is none.
    public var closeReason: String? {
        session.connection.closing.flatMap { $0.reason.isEmpty ? nil : $0.reason }
    }

    /// Sends a text message.
    ///
    /// Returns when the system has taken the whole message, which a server that reads slowly delays. Messages are sent
    /// in the order of the calls. Cancelling the task ends the wait; a message of which a part was sent is then sent
    /// nevertheless, and the WebSocket remains open.
    ///
    /// - Throws: `TargetKitError` of stage `.transport` if the connection is lost or was closed, or `.cancelled`.
    public func send(_ text: String) async throws(TargetKitError) {
        try await session.send(.text(text))
    }

    /// Sends a binary message, as ``send(_:)-(String)`` does.
    ///
    /// - Throws: `TargetKitError` of stage `.transport` if the connection is lost or was closed, or `.cancelled`.
    public func send(_ data: Data) async throws(TargetKitError) {
        try await session.send(.data(data))
    }

    /// Sends a value as JSON in a text message.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: Encodes it; default: a `JSONEncoder` with its default settings.
    /// - Throws: `TargetKitError` of stage `.request` if the value can't be encoded, of stage `.transport` if the
    ///   connection is lost or was closed, or `.cancelled`.
    public func send(
        _ value: some Encodable,
        encoder: JSONEncoder = JSONEncoder()
    ) async throws(TargetKitError) {
        let data: Data
        do { data = try encoder.encode(value) } catch { throw session.failure(error, at: .request) }
        try await session.send(.text(String(decoding: data, as: UTF8.self)))
    }

    /// Sends a ping, waits for its pong, and returns the time between them by the provider's clock.
    ///
    /// While messages wait to be taken, the connection isn't read, and the pong waits behind them.
    ///
    /// - Throws: `TargetKitError` of stage `.transport` if the connection is lost or was closed, or `.cancelled`.
    @discardableResult
    public func ping() async throws(TargetKitError) -> Duration {
        try await session.ping()
    }

    /// Closes the WebSocket by the closing handshake (RFC 6455 §7), and returns when the connection is closed, after 5
    /// seconds at the latest. Has no effect on a WebSocket that is closed.
    ///
    /// Messages that have arrived can still be taken; those that arrive later are discarded. Messages for which `send`
    /// hasn't returned aren't sent.
    ///
    /// - Parameters:
    ///   - code: The reason for programs; default ``WebSocketCloseCode/normal``. A code that may not be sent
    ///     (``WebSocketCloseCode/maySend``) is left out.
    ///   - reason: The reason for developers, of which 123 bytes are sent; default: none.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async {
        await session.close(WebSocketClosing(code: code.rawValue, reason: reason))
    }
}

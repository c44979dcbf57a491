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
/// It belongs to the scope of its provider. Cancelling the provider or the scope ends it, and
/// `RequestScope.shutdown(grace:)` closes it and waits for it. Releasing it and the sequences of its messages also
/// closes it.
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

    /// The subprotocol that the server selected; `nil` if there is none.
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
    /// Returns when the system has accepted the whole message. A server that reads slowly delays this. Messages are
    /// sent in the order of the calls. Cancelling the task ends the wait; a partly sent message is still sent to its
    /// end, and the WebSocket remains open.
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

    /// Sends a ping, waits for its pong, and returns the time between them, measured by the provider's clock.
    ///
    /// While unconsumed messages suspend reading, the pong waits behind them.
    ///
    /// - Throws: `TargetKitError` of stage `.transport` if the connection is lost or was closed, or `.cancelled`.
    @discardableResult
    public func ping() async throws(TargetKitError) -> Duration {
        try await session.ping()
    }

    /// Performs the closing handshake (RFC 6455 §7), and returns when the connection is closed, or after 5 seconds. It
    /// has no effect on a closed WebSocket.
    ///
    /// Received messages can still be read; messages that arrive later are discarded. Messages whose `send` hasn't
    /// returned aren't sent.
    ///
    /// - Parameters:
    ///   - code: The machine-readable reason; default: ``WebSocketCloseCode/normal``. A code that may not be sent
    ///     (``WebSocketCloseCode/maySend``) is omitted.
    ///   - reason: The human-readable reason, truncated to 123 bytes; default: none.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async {
        await session.close(WebSocketClosing(code: code.rawValue, reason: reason).sendable)
    }
}

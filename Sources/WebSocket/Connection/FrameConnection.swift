// SPDX-License-Identifier: MIT
import TargetKit

/// The messages of a WebSocket over the bytes of a connection (RFC 6455). Releasing it closes the connection.
final class FrameConnection: MessageConnection {
    private let session: FrameSession

    /// Creates a connection that starts reading.
    init(_ session: FrameSession) {
        self.session = session
        Task { await session.run() }
    }

    deinit {
        session.cancel(.goingAway)
    }

    var subprotocol: String? { session.agreement.subprotocol }

    var closing: WebSocketClosing? { session.closing }

    /// Whether reading is suspended because messages aren't consumed.
    var isFull: Bool { session.inbox.isFull }

    /// Changes when bytes arrive, or when the system accepts a part of a large message.
    var activityCount: UInt64 { session.activityCount }

    /// Sets the closure to call when the connection ends.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        session.onEnd(action)
    }

    func receive() async throws -> WebSocketMessage? {
        try await session.inbox.next()
    }

    func send(_ message: WebSocketMessage) async throws {
        try await session.writer.send(message)
    }

    func ping() async throws {
        try await session.ping()
    }

    func close(_ closing: WebSocketClosing) async {
        await session.close(closing)
    }

    func cancel(_ closing: WebSocketClosing) {
        session.cancel(closing)
    }
}

extension WebSocketClosing {
    static let goingAway = Self(code: WebSocketCloseCode.goingAway.rawValue)
}

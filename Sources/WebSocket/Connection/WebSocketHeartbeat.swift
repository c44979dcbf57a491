// SPDX-License-Identifier: MIT

/// The pings with which a WebSocket detects a lost connection.
public struct WebSocketHeartbeat: Sendable, Hashable {
    /// The time between a pong and the next ping.
    public var interval: Duration
    /// The time that the server has to send the pong. It starts again while other bytes arrive, while a large message is
    /// being sent, and while messages aren't consumed.
    public var timeout: Duration

    /// Creates a heartbeat.
    public init(every interval: Duration, timeout: Duration) {
        self.interval = interval
        self.timeout = timeout
    }
}

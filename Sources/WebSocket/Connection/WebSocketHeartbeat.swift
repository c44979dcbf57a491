// SPDX-License-Identifier: MIT

/// How a WebSocket finds out that its connection is lost although nothing says so.
public struct WebSocketHeartbeat: Sendable, Hashable {
    /// The time between the pong of a ping and the next ping.
    public var interval: Duration
    /// How long the server may take to send the pong.
    public var timeout: Duration

    /// Creates a heartbeat.
    public init(every interval: Duration, timeout: Duration) {
        self.interval = interval
        self.timeout = timeout
    }
}

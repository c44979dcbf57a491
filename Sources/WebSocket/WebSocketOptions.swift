// SPDX-License-Identifier: MIT
import TargetKit

extension CallOptions {
    /// The subprotocols that a WebSocket requests, the preferred one first (RFC 6455 §1.9); default: none.
    public var webSocketSubprotocols: [String] {
        get { self[SubprotocolsKey.self] }
        set { self[SubprotocolsKey.self] = newValue }
    }

    /// The pings with which a WebSocket detects a lost connection; default `nil`: none.
    ///
    /// If a pong doesn't arrive in time, the WebSocket ends with `WebSocketError.Reason.noPong`. While unconsumed
    /// messages suspend reading, no ping is sent, because the pong would wait behind them.
    public var webSocketHeartbeat: WebSocketHeartbeat? {
        get { self[HeartbeatKey.self] }
        set { self[HeartbeatKey.self] = newValue }
    }

    /// The maximum sizes that a WebSocket accepts; default: 16 MiB for a message.
    public var webSocketLimits: WebSocketLimits {
        get { self[LimitsKey.self] }
        set { self[LimitsKey.self] = newValue }
    }

    /// Whether a WebSocket offers to compress messages (`permessage-deflate`, RFC 7692); default `true`. Don't compress
    /// messages that contain both a secret and text from another party, because their size can reveal the secret.
    public var webSocketCompression: Bool {
        get { self[CompressionKey.self] }
        set { self[CompressionKey.self] = newValue }
    }

    /// Options that set ``webSocketHeartbeat``.
    ///
    /// ```swift
    /// let socket = try await provider.webSocket(.feed, options: .heartbeat(every: .seconds(30), timeout: .seconds(10)))
    /// ```
    public static func heartbeat(every interval: Duration, timeout: Duration) -> CallOptions {
        .setting(\.webSocketHeartbeat, WebSocketHeartbeat(every: interval, timeout: timeout))
    }

    /// Options that set ``webSocketSubprotocols``.
    public static func subprotocols(_ names: String...) -> CallOptions {
        .setting(\.webSocketSubprotocols, names)
    }
}

private enum SubprotocolsKey: CallOptionKey { static let defaultValue: [String] = [] }
private enum HeartbeatKey: CallOptionKey { static let defaultValue: WebSocketHeartbeat? = nil }
private enum LimitsKey: CallOptionKey { static let defaultValue = WebSocketLimits() }
private enum CompressionKey: CallOptionKey { static let defaultValue = true }

// SPDX-License-Identifier: MIT

/// The maximum sizes that a WebSocket accepts. A larger message is rejected when its header arrives, before memory is
/// allocated, and closes the WebSocket with ``WebSocketCloseCode/messageTooBig``.
public struct WebSocketLimits: Sendable, Hashable {
    /// The maximum size of a message in bytes, after decompression. Default: 16 MiB.
    public var messageSize: Int
    /// The maximum payload of a frame in bytes, before decompression. Default: 16 MiB.
    public var frameSize: Int

    /// Creates limits. Negative values count as 0.
    public init(messageSize: Int = 16 << 20, frameSize: Int = 16 << 20) {
        self.messageSize = max(0, messageSize)
        self.frameSize = max(0, frameSize)
    }

    /// The limits, clamped to values that aren't negative and can't overflow in a sum.
    var clamped: Self {
        let most = Int.max >> 2
        return Self(messageSize: min(messageSize, most), frameSize: min(frameSize, most))
    }
}

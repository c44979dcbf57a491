// SPDX-License-Identifier: MIT

/// The sizes that a WebSocket accepts. What exceeds them is refused when its header arrives, before its memory is
/// allocated, and closes the WebSocket with ``WebSocketCloseCode/messageTooBig``.
public struct WebSocketLimits: Sendable, Hashable {
    /// The largest message in bytes, after decompression. Default: 16 MiB.
    public var messageSize: Int
    /// The largest payload of a frame in bytes, before decompression. Default: 16 MiB.
    public var frameSize: Int

    /// Creates limits. A negative one counts as 0.
    public init(messageSize: Int = 16 << 20, frameSize: Int = 16 << 20) {
        self.messageSize = max(0, messageSize)
        self.frameSize = max(0, frameSize)
    }

    /// The limits without values that are negative, or so large that a sum with them could overflow.
    var clamped: Self {
        let most = Int.max >> 2
        return Self(messageSize: min(messageSize, most), frameSize: min(frameSize, most))
    }
}

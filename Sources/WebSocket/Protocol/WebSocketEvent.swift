// SPDX-License-Identifier: MIT
import Foundation

/// What arrives over a WebSocket: a whole message, or a control frame.
package enum WebSocketEvent: Sendable, Hashable {
    case text(String)
    case data(Data)
    case ping(Data)
    case pong(Data)
    /// A close frame; the code is `nil` if its payload is empty.
    case close(WebSocketCloseCode?, String)
}

/// The end of a WebSocket that reads or writes.
package enum WebSocketRole: Sendable, Hashable {
    /// Masks its own frames, and expects unmasked ones (RFC 6455 §5.1).
    case client
    /// The reverse.
    case server
}

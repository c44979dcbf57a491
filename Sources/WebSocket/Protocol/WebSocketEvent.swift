// SPDX-License-Identifier: MIT
import Foundation

/// A complete message or a control frame that a WebSocket received.
package enum WebSocketEvent: Sendable, Hashable {
    case text(String)
    case data(Data)
    case ping(Data)
    case pong(Data)
    /// A close frame; the code is `nil` if its payload is empty.
    case close(WebSocketCloseCode?, String)
}

/// The side of a WebSocket that reads or writes.
package enum WebSocketRole: Sendable, Hashable {
    /// Masks its own frames, and expects unmasked ones (RFC 6455 §5.1).
    case client
    /// Sends unmasked frames, and expects masked ones (RFC 6455 §5.1).
    case server
}

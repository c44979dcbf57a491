// SPDX-License-Identifier: MIT
import TargetKit

/// A message of a WebSocket (RFC 6455 §5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case data(Data)
}

/// The content of a close frame (RFC 6455 §5.5.1).
public struct WebSocketClosing: Sendable, Hashable {
    /// The status code (RFC 6455 §7.4); 1005 if the frame had none.
    public var code: UInt16
    /// The reason; empty if there is none. At most 123 bytes of UTF-8 are sent.
    public var reason: String

    /// Creates the content of a close frame.
    public init(code: UInt16, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

extension WebSocketMessage: ReflectsDescription, CustomDebugStringConvertible {
    /// The kind and the size, because the content can be secret.
    public var description: String {
        switch self {
        case .text(let text): "text, \(text.utf8.count) bytes"
        case .data(let data): "data, \(data.count) bytes"
        }
    }
    /// The kind and the size, because the content can be secret.
    public var debugDescription: String { description }
}

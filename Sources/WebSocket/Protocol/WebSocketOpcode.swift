// SPDX-License-Identifier: MIT

/// The kind of a frame (RFC 6455 §5.2).
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether a frame may occur between the fragments of a message and must not be fragmented (RFC 6455 §5.5).
    var isControl: Bool { rawValue >= 0x8 }
}

/// The bits of the first two bytes of a frame (RFC 6455 §5.2).
enum WebSocketFrameBit {
    static let final: UInt8 = 0x80
    static let compressed: UInt8 = 0x40
    static let reserved: UInt8 = 0x70
    static let opcode: UInt8 = 0x0F
    static let masked: UInt8 = 0x80
    static let length: UInt8 = 0x7F
}

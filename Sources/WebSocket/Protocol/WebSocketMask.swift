// SPDX-License-Identifier: MIT

/// The masking key of a frame and the position in the key (RFC 6455 §5.3).
struct WebSocketMask: Sendable {
    /// The key's bytes in memory order, rotated so that the first one applies to the next byte.
    private var key: UInt32

    /// Creates a mask from the four bytes of the key in memory order.
    init(key: UInt32) {
        self.key = key
    }

    /// Masks or unmasks bytes into a destination of at least the same size. Both may be the same memory.
    mutating func apply(to source: UnsafeRawBufferPointer, into destination: UnsafeMutableRawPointer) {
        guard let base = source.baseAddress else { return }
        let count = source.count
        let word = UInt64(key) | UInt64(key) << 32
        var index = 0
        while index &+ 8 <= count {
            let bytes = base.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
            destination.storeBytes(of: bytes, toByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        var rest = word.littleEndian
        while index < count {
            let byte = base.load(fromByteOffset: index, as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest)
            destination.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            rest &>>= 8
            index &+= 1
        }
        advance(by: count)
    }

    /// Masks or unmasks bytes in place.
    mutating func apply(to bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        apply(to: UnsafeRawBufferPointer(bytes), into: base)
    }

    private mutating func advance(by count: Int) {
        let shift = UInt32(truncatingIfNeeded: count & 3) &* 8
        guard shift > 0 else { return }
        let bytes = key.littleEndian
        key = UInt32(littleEndian: bytes &>> shift | bytes &<< (32 &- shift))
    }
}

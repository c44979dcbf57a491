// SPDX-License-Identifier: MIT

/// Checks UTF-8 that arrives in pieces, cut anywhere (RFC 3629 §4).
struct UTF8Check: Sendable {
    /// The number of continuation bytes that the current character lacks.
    private var missing = 0
    /// The allowed range of the next continuation byte. Only the first one of a character has a narrower range.
    private var range: ClosedRange<UInt8> = continuation

    private static let continuation: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the bytes so far end with a whole character.
    var isAtBoundary: Bool { missing == 0 }

    /// Checks more bytes.
    ///
    /// - Returns: The index of the first byte that no valid text could have there; `nil` if there is none.
    mutating func firstInvalid(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        var index = 0
        while index < count {
            if missing == 0 {
                index = Self.endOfASCII(base, from: index, to: count)
                guard index < count else { return nil }
                guard begin(base.load(fromByteOffset: index, as: UInt8.self)) else { return index }
            } else {
                guard range.contains(base.load(fromByteOffset: index, as: UInt8.self)) else { return index }
                missing &-= 1
                range = Self.continuation
            }
            index &+= 1
        }
        return nil
    }

    /// Reads the first byte of a character that isn't ASCII; returns whether it is valid.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: (missing, range) = (1, Self.continuation)
        case 0xE0: (missing, range) = (2, 0xA0...0xBF)
        case 0xED: (missing, range) = (2, 0x80...0x9F)
        case 0xE1...0xEF: (missing, range) = (2, Self.continuation)
        case 0xF0: (missing, range) = (3, 0x90...0xBF)
        case 0xF1...0xF3: (missing, range) = (3, Self.continuation)
        case 0xF4: (missing, range) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }

    private static func endOfASCII(_ base: UnsafeRawPointer, from start: Int, to end: Int) -> Int {
        var index = start
        while index &+ 8 <= end {
            let high = base.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian & 0x8080_8080_8080_8080
            guard high == 0 else { return index &+ high.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < end, base.load(fromByteOffset: index, as: UInt8.self) < 0x80 { index &+= 1 }
        return index
    }
}

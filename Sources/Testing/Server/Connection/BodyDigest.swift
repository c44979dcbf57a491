// SPDX-License-Identifier: MIT

import Foundation

/// A noncryptographic digest of bytes that are too many to store. It detects lost, repeated, swapped and changed bytes.
///
/// It processes eight bytes at a time, so that a gigabyte takes only seconds even in a debug build.
package struct BodyDigest: Sendable, Hashable {
    private var mixed: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var partial: UInt64 = 0
    private var partialCount: UInt64 = 0

    /// The number of bytes.
    package private(set) var byteCount: Int64 = 0

    /// Creates the digest of no bytes.
    package init() {}

    /// Creates the digest of bytes.
    package init(of data: Data) {
        update(data)
    }

    /// The digest of all bytes and their number.
    package var value: UInt64 {
        Self.mix(Self.mix(mixed, word: partial), word: UInt64(bitPattern: byteCount))
    }

    /// Adds bytes.
    package mutating func update(_ data: Data) {
        data.withUnsafeBytes { update($0) }
    }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        byteCount += Int64(bytes.count)
        var index = 0
        while partialCount > 0, index < bytes.count {
            take(bytes[index])
            index += 1
        }
        guard let start = bytes.baseAddress else { return }
        var hash = mixed
        let end = bytes.count - 7
        while index < end {
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            // Inlined, because a call of `mix` would double the time in a debug build.
            hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            index += 8
        }
        mixed = hash
        while index < bytes.count {
            take(bytes[index])
            index += 1
        }
    }

    /// Whether both digests are equal.
    package static func == (one: BodyDigest, other: BodyDigest) -> Bool {
        one.value == other.value && one.byteCount == other.byteCount
    }

    /// Hashes the digest.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(value)
    }

    private mutating func take(_ byte: UInt8) {
        partial |= UInt64(byte) << (8 * partialCount)
        partialCount += 1
        guard partialCount == 8 else { return }
        mixed = Self.mix(mixed, word: partial)
        partial = 0
        partialCount = 0
    }

    private static func mix(_ hash: UInt64, word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return product ^ (product >> 32)
    }
}

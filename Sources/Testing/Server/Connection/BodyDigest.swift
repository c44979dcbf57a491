// SPDX-License-Identifier: MIT

import Foundation

/// A fingerprint of bytes for tests that send too many of them to keep. It does not depend on how the bytes were cut.
///
/// It takes eight bytes at a time, so that a gigabyte takes seconds also in a debug build. It is no protection against
/// anybody; it finds lost, doubled, swapped and changed bytes.
public struct BodyDigest: Sendable, Hashable {
    private var mixed: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var partial: UInt64 = 0
    private var partialCount: UInt64 = 0

    /// How many bytes went in.
    public private(set) var byteCount: Int64 = 0

    /// The digest of nothing.
    public init() {}

    /// The digest of those bytes.
    public init(of data: Data) {
        update(data)
    }

    /// The fingerprint of all bytes so far; their number is part of it.
    public var value: UInt64 {
        Self.mix(Self.mix(mixed, partial), UInt64(bitPattern: byteCount))
    }

    /// Takes in more bytes.
    public mutating func update(_ data: Data) {
        data.withUnsafeBytes { update($0) }
    }

    /// Takes in more bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
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
            // `mix` by hand: the call would double the time in a debug build.
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

    /// Whether both are digests of the same bytes, as far as that can be told.
    public static func == (one: BodyDigest, other: BodyDigest) -> Bool {
        one.value == other.value && one.byteCount == other.byteCount
    }

    /// Hashes the fingerprint.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(value)
    }

    private mutating func take(_ byte: UInt8) {
        partial |= UInt64(byte) << (8 * partialCount)
        partialCount += 1
        guard partialCount == 8 else { return }
        mixed = Self.mix(mixed, partial)
        partial = 0
        partialCount = 0
    }

    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return product ^ (product >> 32)
    }
}

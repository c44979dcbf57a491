// SPDX-License-Identifier: MIT
import _TargetKitSupport

#if canImport(CryptoKit)
import CryptoKit

/// A SHA-256 digest (FIPS 180-4 §6.2) of bytes that arrive in chunks.
package struct SHA256Hasher: Sendable {
    private var hash = SHA256()

    package init() {}

    /// Appends a chunk of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hash.update(bufferPointer: bytes)
    }

    /// The digest of the message so far, 32 bytes.
    package func finalize() -> [UInt8] { Array(hash.finalize()) }
}
#else
/// A SHA-256 digest (FIPS 180-4 §6.2) of bytes that arrive in chunks.
package struct SHA256Hasher: Sendable {
    /// The fractional parts of the cube roots of the first 64 primes (FIPS 180-4 §4.2.2).
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    /// The fractional parts of the square roots of the first eight primes (FIPS 180-4 §5.3.3).
    private var state = SIMD8<UInt32>(
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19
    )
    private var blocks = MessageBlocks()

    package init() {}

    /// Appends a chunk of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        blocks.append(bytes) { Self.add($0, to: &state) }
        self.state = state
    }

    /// The digest of the message so far, 32 bytes.
    package func finalize() -> [UInt8] {
        var copy = self
        blocks.padding.withUnsafeBytes { copy.update($0) }
        return copy.state.indices.map { copy.state[$0].bigEndian }.withUnsafeBytes { Array($0) }
    }

    /// Adds whole blocks.
    private static func add(_ blocks: UnsafeRawBufferPointer, to state: inout SIMD8<UInt32>) {
        constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                for start in stride(from: 0, to: blocks.count, by: MessageBlocks.size) {
                    for index in 0..<16 {
                        let word = blocks.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
                        schedule[index] = UInt32(bigEndian: word)
                    }
                    for index in 16..<64 {
                        let (early, late) = (schedule[index - 15], schedule[index - 2])
                        let first = right(early, count: 7) ^ right(early, count: 18) ^ early >> 3
                        let second = right(late, count: 17) ^ right(late, count: 19) ^ late >> 10
                        schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
                    }
                    mix(schedule, constants: constants, into: &state)
                }
            }
        }
    }

    /// The compression function (FIPS 180-4 §6.2.2).
    private static func mix(
        _ schedule: UnsafeMutableBufferPointer<UInt32>,
        constants: UnsafeBufferPointer<UInt32>,
        into state: inout SIMD8<UInt32>
    ) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let choice = e & f ^ ~e & g
            let sum = right(e, count: 6) ^ right(e, count: 11) ^ right(e, count: 25)
            let first = h &+ sum &+ choice &+ constants[index] &+ schedule[index]
            let majority = a & b ^ a & c ^ b & c
            let second = (right(a, count: 2) ^ right(a, count: 13) ^ right(a, count: 22)) &+ majority
            (a, b, c, d, e, f, g, h) = (first &+ second, a, b, c, d &+ first, e, f, g)
        }
        state &+= SIMD8(a, b, c, d, e, f, g, h)
    }

    private static func right(_ word: UInt32, count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }
}

/// Divides a message into the blocks of SHA-1 and SHA-256 (FIPS 180-4 §5.1.1).
package struct MessageBlocks: Sendable {
    /// The size of a block in bytes.
    package static let size = 64

    /// The bytes of an incomplete block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    package init() {}

    /// Appends bytes, and passes whole blocks to the closure.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, add: (UnsafeRawBufferPointer) -> Void) {
        count += UInt64(bytes.count)
        var bytes = bytes[...]
        if !rest.isEmpty {
            let missing = bytes.prefix(Self.size - rest.count)
            rest.append(contentsOf: missing)
            bytes = bytes.dropFirst(missing.count)
            guard rest.count == Self.size else { return }
            rest.withUnsafeBytes { add(UnsafeRawBufferPointer($0)) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count / Self.size * Self.size
        if whole > 0 { add(UnsafeRawBufferPointer(rebasing: bytes.prefix(whole))) }
        rest.append(contentsOf: bytes.dropFirst(whole))
    }

    /// The bytes after the message, which are a one bit, zeros, and the message's length in bits in the last eight
    /// bytes of a block.
    package var padding: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 + (119 - Int(count % 64)) % 64)
        bytes[0] = 0x80
        withUnsafeBytes(of: (count &* 8).bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }
}
#endif

extension SHA256Hasher {
    /// The digest of a whole message, 32 bytes.
    package static func digest(of message: some ContiguousBytes) -> [UInt8] {
        message.withUnsafeBytes { bytes in
            var hasher = SHA256Hasher()
            hasher.update(bytes)
            return hasher.finalize()
        }
    }
}

extension SHA256Hasher {
    /// The digest of text in UTF-8, in lowercase hexadecimal digits.
    package static func hexadecimal(of text: String) -> String { digest(of: Array(text.utf8)).hexadecimal }

    /// The digest of bytes, in lowercase hexadecimal digits.
    package static func hexadecimal(of message: some Sequence<UInt8>) -> String {
        digest(of: Array(message)).hexadecimal
    }
}

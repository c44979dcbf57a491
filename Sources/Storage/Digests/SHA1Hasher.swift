// SPDX-License-Identifier: MIT

#if canImport(CryptoKit)
import CryptoKit

/// A SHA-1 digest (FIPS 180-4 §6.1) of bytes that arrive in chunks. It protects against damage in transit, not against
/// intent.
package struct SHA1Hasher: Sendable {
    private var hash = Insecure.SHA1()

    package init() {}

    /// Appends a chunk of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hash.update(bufferPointer: bytes)
    }

    /// The digest of the message so far, of 20 bytes.
    package func finalize() -> [UInt8] { Array(hash.finalize()) }
}
#else
/// A SHA-1 digest (FIPS 180-4 §6.1) of bytes that arrive in chunks. It protects against damage in transit, not against
/// intent.
package struct SHA1Hasher: Sendable {
    private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32)

    private var state: State = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0)
    private var blocks = MessageBlocks()

    package init() {}

    /// Appends a chunk of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        blocks.append(bytes) { Self.add($0, to: &state) }
        self.state = state
    }

    /// The digest of the message so far, of 20 bytes.
    package func finalize() -> [UInt8] {
        var copy = self
        blocks.padding.withUnsafeBytes { copy.update($0) }
        let (a, b, c, d, e) = copy.state
        return [a, b, c, d, e].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }

    /// Adds whole blocks.
    private static func add(_ blocks: UnsafeRawBufferPointer, to state: inout State) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { schedule in
            for start in stride(from: 0, to: blocks.count, by: MessageBlocks.size) {
                for index in 0..<16 {
                    let word = blocks.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
                    schedule[index] = UInt32(bigEndian: word)
                }
                for index in 16..<80 {
                    let word = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
                    schedule[index] = rotatedLeft(word, by: 1)
                }
                mix(schedule, into: &state)
            }
        }
    }

    private static func mix(_ schedule: UnsafeMutableBufferPointer<UInt32>, into state: inout State) {
        var (a, b, c, d, e) = state
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let sum = rotatedLeft(a, by: 5) &+ mixed &+ e &+ constant &+ schedule[index]
            (a, b, c, d, e) = (sum, a, rotatedLeft(b, by: 30), c, d)
        }
        state.0 &+= a
        state.1 &+= b
        state.2 &+= c
        state.3 &+= d
        state.4 &+= e
    }

    private static func rotatedLeft(_ word: UInt32, by count: UInt32) -> UInt32 {
        word &<< count | word &>> (32 &- count)
    }
}
#endif

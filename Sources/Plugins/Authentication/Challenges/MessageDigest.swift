// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// The digests of Digest authentication (RFC 7616), for systems without CryptoKit.
///
/// MD5 is insecure, but some servers still require it for Digest authentication.
package enum MessageDigest: Sendable, Hashable, CaseIterable {
    /// RFC 1321.
    case md5
    /// FIPS 180-4 §6.2.
    case sha256

    /// The digest of a message, 16 or 32 bytes.
    package func bytes(of message: [UInt8]) -> [UInt8] {
        switch self {
        case .md5: Self.md5(message)
        case .sha256: SHA256Hasher.digest(of: message)
        }
    }

    /// The digest of text in UTF-8, in lowercase hexadecimal digits.
    package func hexadecimal(of text: String) -> String { bytes(of: Array(text.utf8)).hexadecimal }

    /// The digest of bytes, in lowercase hexadecimal digits.
    package func hexadecimal(of message: some Sequence<UInt8>) -> String { bytes(of: Array(message)).hexadecimal }

    /// The message, `0x80`, zeros, and the message's length in bits in the last eight bytes of a 64-byte block.
    private static func padded(_ message: [UInt8], length: (UInt64) -> UInt64) -> [UInt8] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        let bits = length(UInt64(message.count) &* 8)
        return padded + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    }

    private static func words(_ bytes: ArraySlice<UInt8>) -> [UInt32] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { start in
            bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    private static func bytes(_ words: [UInt32]) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }
}

// MARK: - MD5

extension MessageDigest {
    private static let md5Shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// `floor(2^32 × |sin(i + 1)|)` (RFC 1321 §3.4).
    private static let md5Constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]

    private static func md5(_ message: [UInt8]) -> [UInt8] {
        // MD5's words are little-endian.
        let padded = padded(message) { $0.byteSwapped }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        for start in stride(from: 0, to: padded.count, by: 64) {
            let block = words(padded[start..<start + 64]).map(\.byteSwapped)
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for index in 0..<64 {
                let (mixed, word) = md5Step(index, b, c, d)
                let sum = a &+ mixed &+ md5Constants[index] &+ block[word]
                let shift = md5Shifts[index / 16 * 4 + index % 4]
                (a, b, c, d) = (d, b &+ (sum << shift | sum >> (32 - shift)), b, c)
            }
            state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
        }
        return bytes(state.map(\.byteSwapped))
    }

    /// The round's function, and the index of the word that it adds.
    private static func md5Step(_ index: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> (mixed: UInt32, word: Int) {
        switch index {
        case ..<16: (b & c | ~b & d, index)
        case ..<32: (d & b | ~d & c, (5 * index + 1) % 16)
        case ..<48: (b ^ c ^ d, (3 * index + 5) % 16)
        default: (c ^ (b | ~d), 7 * index % 16)
        }
    }
}

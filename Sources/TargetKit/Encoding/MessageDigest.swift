// SPDX-License-Identifier: MIT

/// The digests of Digest authentication (RFC 7616) and of PKCE (RFC 7636), for systems without CryptoKit.
///
/// MD5 is broken as a signature; some servers still require it for Digest authentication.
package enum MessageDigest: Sendable, Hashable, CaseIterable {
    /// RFC 1321.
    case md5
    /// FIPS 180-4 §6.2.
    case sha256

    /// The digest of a message: 16 bytes, or 32.
    package func bytes(of message: [UInt8]) -> [UInt8] {
        switch self {
        case .md5: Self.md5(message)
        case .sha256: Self.sha256(message)
        }
    }

    /// The digest of a text in UTF-8, in lowercase hexadecimal digits.
    package func hexadecimal(of text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let hexadecimal = bytes(of: Array(text.utf8)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: hexadecimal, as: UTF8.self)
    }

    /// The message, `0x80`, zeros, and the number of its bits in the last eight bytes of a block of 64.
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

// MARK: - SHA-256

extension MessageDigest {
    /// The fractional parts of the cube roots of the first 64 primes (FIPS 180-4 §4.2.2).
    private static let sha256Constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    private static func sha256(_ message: [UInt8]) -> [UInt8] {
        let padded = padded(message) { $0 }
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        for start in stride(from: 0, to: padded.count, by: 64) {
            let schedule = sha256Schedule(words(padded[start..<start + 64]))
            var work = state
            for index in 0..<64 {
                let (a, b, c, e, f, g) = (work[0], work[1], work[2], work[4], work[5], work[6])
                let choice = e & f ^ ~e & g
                let first = work[7] &+ rotated(e, 6, 11, 25) &+ choice &+ sha256Constants[index] &+ schedule[index]
                let majority = a & b ^ a & c ^ b & c
                let second = rotated(a, 2, 13, 22) &+ majority
                work = [first &+ second, a, b, c, work[3] &+ first, e, f, g]
            }
            state = zip(state, work).map { $0 &+ $1 }
        }
        return bytes(state)
    }

    private static func sha256Schedule(_ block: [UInt32]) -> [UInt32] {
        var schedule = block
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let first = right(early, 7) ^ right(early, 18) ^ early >> 3
            let second = right(late, 17) ^ right(late, 19) ^ late >> 10
            schedule.append(schedule[index - 16] &+ first &+ schedule[index - 7] &+ second)
        }
        return schedule
    }

    private static func right(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func rotated(_ word: UInt32, _ one: UInt32, _ two: UInt32, _ three: UInt32) -> UInt32 {
        right(word, one) ^ right(word, two) ^ right(word, three)
    }
}

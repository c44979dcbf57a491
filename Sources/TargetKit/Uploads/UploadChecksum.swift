// SPDX-License-Identifier: MIT
import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// The algorithm of the checksums of tus, with which a server checks each request.
enum UploadChecksum: String, Sendable, Codable {
    case sha256
    case sha1

    /// The best algorithm of a `Tus-Checksum-Algorithm` field; `nil` if it names none of them.
    init?(listedIn field: String) {
        let names = field.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        guard let best = [Self.sha256, .sha1].first(where: { names.contains($0.rawValue) }) else { return nil }
        self = best
    }

    /// The value of `Upload-Checksum` for a body. Reads the body.
    func field(of body: TransportRequest.Body) throws -> String {
        var (sha256, sha1) = (SHA256Hasher(), SHA1Hasher())
        try body.source()?.readAll { bytes in
            switch self {
            case .sha256: sha256.update(bytes)
            case .sha1: sha1.update(bytes)
            }
        }
        let digest = self == .sha256 ? sha256.finalize() : sha1.finalize()
        return "\(rawValue) \(Data(digest).base64EncodedString())"
    }
}

#if canImport(CryptoKit)
/// A SHA-1 digest (FIPS 180-4 §6.1). It protects against damage in transit, not against intent.
struct SHA1Hasher: Sendable {
    private var hash = Insecure.SHA1()

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hash.update(bufferPointer: bytes)
    }

    /// The digest, of 20 bytes.
    func finalize() -> [UInt8] { Array(hash.finalize()) }
}
#else
/// A SHA-1 digest (FIPS 180-4 §6.1). It protects against damage in transit, not against intent.
struct SHA1Hasher: Sendable {
    private static let blockSize = 64

    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
        0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0
    )
    /// The bytes of an incomplete block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count += UInt64(bytes.count)
        var bytes = bytes[...]
        if !rest.isEmpty {
            let missing = bytes.prefix(Self.blockSize - rest.count)
            rest.append(contentsOf: missing)
            bytes = bytes.dropFirst(missing.count)
            guard rest.count == Self.blockSize else { return }
            let block = rest
            rest.removeAll(keepingCapacity: true)
            block.withUnsafeBytes { add(UnsafeRawBufferPointer($0)) }
        }
        let whole = bytes.count / Self.blockSize * Self.blockSize
        add(UnsafeRawBufferPointer(rebasing: bytes.prefix(whole)))
        rest.append(contentsOf: bytes.dropFirst(whole))
    }

    /// The digest, of 20 bytes.
    func finalize() -> [UInt8] {
        var copy = self
        var padding: [UInt8] = [0x80]
        padding += [UInt8](repeating: 0, count: (119 - Int(count % 64)) % 64)
        padding += (0..<8).map { UInt8(truncatingIfNeeded: (count &* 8) >> UInt64(56 - 8 * $0)) }
        padding.withUnsafeBytes { copy.update($0) }
        let (a, b, c, d, e) = copy.state
        return [a, b, c, d, e].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }

    private mutating func add(_ blocks: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { schedule in
            for start in stride(from: 0, to: blocks.count, by: Self.blockSize) {
                for index in 0..<16 {
                    let word = blocks.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
                    schedule[index] = UInt32(bigEndian: word)
                }
                for index in 16..<80 {
                    let word = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
                    schedule[index] = Self.left(word, 1)
                }
                mix(schedule)
            }
        }
    }

    private mutating func mix(_ schedule: UnsafeMutableBufferPointer<UInt32>) {
        var (a, b, c, d, e) = state
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let sum = Self.left(a, 5) &+ mixed &+ e &+ constant &+ schedule[index]
            (a, b, c, d, e) = (sum, a, Self.left(b, 30), c, d)
        }
        state.0 &+= a
        state.1 &+= b
        state.2 &+= c
        state.3 &+= d
        state.4 &+= e
    }

    private static func left(_ word: UInt32, _ count: UInt32) -> UInt32 { word &<< count | word &>> (32 &- count) }
}
#endif

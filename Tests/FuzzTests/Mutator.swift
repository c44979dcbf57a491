// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting

/// Makes inputs of a corpus: the same ones for the same seed.
struct Mutator {
    private static let sizeLimit = 64 << 10

    private var random: SeededGenerator
    private let corpus: [[UInt8]]
    private let tokens: [[UInt8]]

    init(_ corpus: [Data], tokens: [String], seed: UInt64) {
        self.corpus = corpus.map { Array($0) }
        self.tokens = tokens.map { Array($0.utf8) } + [[0], [0xFF], [0xED, 0xA0, 0x80], Array("\u{FEFF}".utf8)]
        random = SeededGenerator(seed: seed)
    }

    /// An input of the corpus after one to eight changes.
    mutating func next() -> Data {
        var bytes = corpus[index(corpus.count)]
        for _ in 0...index(8) { change(&bytes) }
        return Data(bytes.prefix(Self.sizeLimit))
    }

    private mutating func index(_ count: Int) -> Int { Int.random(in: 0..<max(count, 1), using: &random) }

    /// A range of the bytes, mostly a short one.
    private mutating func range(_ bytes: [UInt8]) -> Range<Int> {
        let start = index(bytes.count + 1)
        let limit = index(4) == 0 ? bytes.count : 16
        return start..<min(bytes.count, start + index(limit + 1))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let range = range(bytes)
        switch index(9) {
        case 0:
            guard !bytes.isEmpty else { return }
            bytes[index(bytes.count)] ^= 1 << UInt8(index(8))
        case 1:
            guard !bytes.isEmpty else { return }
            bytes[index(bytes.count)] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.removeSubrange(range)
        case 3: bytes.removeSubrange(range.lowerBound...)
        case 4:
            // A repeated piece, now and then until it is deep or long.
            let times = index(16) == 0 ? 1_000 : 1 + index(4)
            bytes.insert(contentsOf: Array(repeating: bytes[range], count: times).joined(), at: range.upperBound)
            bytes.removeSubrange(min(bytes.count, Self.sizeLimit)...)
        case 5:
            let other = corpus[index(corpus.count)]
            bytes.replaceSubrange(range, with: other[self.range(other)])
        case 6:
            let other = corpus[index(corpus.count)]
            bytes = Array(bytes[..<range.lowerBound] + other[index(other.count + 1)...])
        case 7: bytes.replaceSubrange(range, with: tokens[index(tokens.count)])
        default: changeNumber(&bytes, at: range.lowerBound)
        }
    }

    /// Puts a number that is near a limit in the place of the digits at an index, or before it.
    private mutating func changeNumber(_ bytes: inout [UInt8], at start: Int) {
        let numbers = ["0", "-1", "1e999", "2147483648", "4294967296", "9223372036854775807", "18446744073709551616"]
        let digits = bytes[start...].prefix { (0x30...0x39).contains($0) }
        bytes.replaceSubrange(start..<digits.endIndex, with: numbers[index(numbers.count)].utf8)
    }
}

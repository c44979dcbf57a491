// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting

/// Random values that are the same for the same seed.
package struct RandomValues: RandomNumberGenerator {
    /// How many values each test makes: 5,000, or what the environment's `TARGETKIT_FUZZ` says.
    package static var count: Int {
        ProcessInfo.processInfo.environment["TARGETKIT_FUZZ"].flatMap(Int.init) ?? 5_000
    }

    private var generator: SeededGenerator

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    package mutating func next() -> UInt64 { generator.next() }

    /// A text of up to 24 scalars: plain letters, ASCII of any kind, or any scalar there is.
    package mutating func text() -> String {
        var scalars = String.UnicodeScalarView()
        let kind = Int.random(in: 0..<4, using: &self)
        for _ in 0..<Int.random(in: 0...24, using: &self) {
            let limit: UInt32 = kind == 0 ? 26 : kind < 3 ? 128 : 0x110000
            let number = UInt32.random(in: 0..<limit, using: &self) + (kind == 0 ? 97 : 0)
            scalars.append(Unicode.Scalar(number) ?? "\u{FFFD}")
        }
        return String(scalars)
    }

    /// A finite number, of any magnitude or near to one.
    package mutating func double() -> Double {
        if Bool.random(using: &self) { return Double.random(in: -1_000...1_000, using: &self) }
        let number = Double(bitPattern: next())
        return number.isFinite ? number : 0
    }
}

extension RandomValues {
    /// Some numbers, of those in the list, or of all when it is empty.
    package mutating func bytes<Number: FixedWidthInteger>(upTo count: Int, of alphabet: [Number]) -> [Number] {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in
            alphabet.isEmpty
                ? Number(truncatingIfNeeded: next())
                : alphabet[Int(truncatingIfNeeded: next() % UInt64(alphabet.count))]
        }
    }
}

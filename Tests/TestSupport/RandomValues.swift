// SPDX-License-Identifier: MIT

import Foundation

/// Random values that are the same for the same seed (the SplitMix64 generator, by S. Vigna, in the public domain).
package struct RandomValues: RandomNumberGenerator {
    /// How many values each test makes: 5,000, or what the environment's `TARGETKIT_FUZZ` says.
    package static var count: Int {
        ProcessInfo.processInfo.environment["TARGETKIT_FUZZ"].flatMap(Int.init) ?? 5_000
    }

    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

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

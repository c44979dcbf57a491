// SPDX-License-Identifier: MIT
import TargetKit

/// The range of a representation that a response contains (RFC 9110 §14.4).
struct ContentRange: Sendable, Hashable {
    /// The positions of the first and the last byte; `nil` if the range couldn't be satisfied (`bytes */1234`).
    var bytes: ClosedRange<Int64>?
    /// The length of the whole representation in bytes; `nil` if the server doesn't know it (`bytes 0-499/*`).
    var completeLength: Int64?

    /// Reads the value of `Content-Range`; `nil` if it isn't a valid range of bytes.
    init?(_ field: String) {
        var rest = field[...].trimmingSpaces.utf8
        guard rest.count > 6, rest.prefix(5).lazy.map(\.asciiLowercased).elementsEqual("bytes".utf8) else { return nil }
        rest = rest.dropFirst(5)
        guard rest.first?.isSpaceOrTab == true else { return nil }
        rest = rest.drop(while: \.isSpaceOrTab)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let (range, length) = (rest[..<slash], rest[rest.index(after: slash)...])
        if !length.elementsEqual("*".utf8) {
            guard let number = Self.number(length) else { return nil }
            completeLength = number
        }
        guard !range.elementsEqual("*".utf8) else {
            // An unsatisfied range has a known length.
            if completeLength == nil { return nil }
            return
        }
        guard let hyphen = range.firstIndex(of: UInt8(ascii: "-")), let first = Self.number(range[..<hyphen]),
            let last = Self.number(range[range.index(after: hyphen)...]), first <= last,
            completeLength.map({ last < $0 }) ?? true
        else { return nil }
        bytes = first...last
    }

    /// Decimal digits, without a sign or spaces.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            return nil
        }
        return Int64(Substring(digits))
    }
}

// SPDX-License-Identifier: MIT

/// The range of a representation that a response contains (RFC 9110 §14.4).
package struct ContentRange: Sendable, Hashable {
    /// The positions of the first and the last byte; `nil` if the range couldn't be satisfied (`bytes */1234`).
    package private(set) var bytes: ClosedRange<Int64>?
    /// The length of the whole representation in bytes; `nil` if the server doesn't know it (`bytes 0-499/*`).
    package private(set) var completeLength: Int64?

    /// Reads the value of `Content-Range`; `nil` if it isn't a valid range of bytes.
    package init?(_ field: String) {
        var parser = FieldParser(field[...].trimmingSpaces)
        guard String(parser.text(before: " \t")).equalsIgnoringASCIICase("bytes") else { return nil }
        parser.skipSpaces()
        if !parser.skip("*") {
            guard let first = parser.number(), parser.skip("-"), let last = parser.number(), first <= last else {
                return nil
            }
            bytes = first...last
        }
        guard parser.skip("/") else { return nil }
        if !parser.skip("*") {
            guard let length = parser.number() else { return nil }
            completeLength = length
        }
        // An unsatisfied range has a known length.
        guard parser.isAtEnd, bytes != nil || completeLength != nil else { return nil }
        if let bytes, let completeLength, bytes.upperBound >= completeLength { return nil }
    }

    /// Whether the value of `Content-Range` is about bytes, as an invalid one can be. Ranges of other units, such as the
    /// rows of a table, say nothing about the body.
    package static func hasBytes(_ field: String) -> Bool {
        var parser = FieldParser(field[...].trimmingSpaces)
        return String(parser.text(before: " \t=")).equalsIgnoringASCIICase("bytes")
    }

    /// Whether the range is the whole representation.
    package var isWhole: Bool {
        guard let bytes, let completeLength else { return false }
        return bytes.lowerBound == 0 && bytes.upperBound == completeLength - 1
    }
}

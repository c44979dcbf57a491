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
        guard parser.text(before: " \t").equalsIgnoringASCIICase("bytes") else { return nil }
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
    fileprivate static func hasBytes(_ field: String) -> Bool {
        var parser = FieldParser(field[...].trimmingSpaces)
        return parser.text(before: " \t=").equalsIgnoringASCIICase("bytes")
    }

    /// Whether the range is the whole representation.
    package var isWhole: Bool {
        guard let bytes, let completeLength else { return false }
        return bytes.lowerBound == 0 && bytes.upperBound == completeLength - 1
    }
}

extension ResponseHead {
    /// The reason why the body isn't the whole file that the status announces, for a status other than 206; `nil` if no
    /// field says so. Servers and proxies exist that change the status of a part, so the status doesn't overrule the
    /// fields.
    ///
    /// - Parameter byteCount: The size of the body; `nil` for the announced one.
    package func reasonForPart(byteCount: Int64? = nil) -> String? {
        for field in headers.values(for: .contentRange) where ContentRange.hasBytes(field) {
            guard let range = ContentRange(field) else { return "its Content-Range is invalid" }
            if range.bytes != nil, !range.isWhole {
                return "its Content-Range is a part of the file, although its status is \(statusCode)"
            }
            if headers.isUncoded, let length = range.completeLength, let count = byteCount ?? headers.contentLength,
                count != length
            {
                return "it has \(count) bytes, but the file has \(length) according to its Content-Range"
            }
        }
        return nil
    }
}

extension HTTPHeaders {
    /// The size of the content in bytes; `nil` if it is missing or isn't a single number.
    package var contentLength: Int64? {
        guard !contains(.transferEncoding) else { return nil }
        let values = Set(values(for: .contentLength))
        guard values.count == 1, let value = values.first, value.utf8.allSatisfy(\.isDigit) else {
            return nil
        }
        return Int64(value)
    }
}

extension HTTPHeaderName {
    package static let contentRange = Self(rawValue: "Content-Range")
}

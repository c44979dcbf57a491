// SPDX-License-Identifier: MIT

/// The range of a representation that a response contains (RFC 9110 §14.4).
package struct ContentRange: Sendable, Hashable {
    /// The positions of the first and the last byte; `nil` if the range couldn't be satisfied (`bytes */1234`).
    package private(set) var bytes: ClosedRange<Int64>?
    /// The length of the whole representation in bytes; `nil` if the server doesn't know it (`bytes 0-499/*`).
    package private(set) var completeLength: Int64?

    /// Reads the value of `Content-Range`; `nil` if it isn't a valid range of bytes.
    package init?(_ field: String) {
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

    /// Whether the value of `Content-Range` is about bytes, as an invalid one can be. Ranges of other units, such as the
    /// rows of a table, say nothing about the body.
    fileprivate static func hasBytes(_ field: String) -> Bool {
        let unit = field[...].trimmingSpaces.utf8.prefix { !$0.isSpaceOrTab && $0 != UInt8(ascii: "=") }
        return unit.lazy.map(\.asciiLowercased).elementsEqual("bytes".utf8)
    }

    /// Whether the range is the whole representation.
    package var isWhole: Bool {
        guard let bytes, let completeLength else { return false }
        return bytes.lowerBound == 0 && bytes.upperBound == completeLength - 1
    }

    /// Decimal digits, without a sign or spaces.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            return nil
        }
        return Int64(Substring(digits))
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

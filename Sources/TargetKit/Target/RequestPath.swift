// SPDX-License-Identifier: MIT

/// The path of a call relative to its base URL. Interpolated values are escaped, so each stays one path segment.
///
/// ```swift
/// var path: RequestPath { "/users/\(name)/posts" }
/// ```
/// The name `a/../b?c` gives `/users/a%2F..%2Fb%3Fc/posts`.
///
/// - In the literal's text, only characters that RFC 3986 §3.3 doesn't allow in a path are escaped. `%2F` is unchanged.
/// - In an interpolated value, everything except the unreserved characters of RFC 3986 §2.3 is escaped. `\(raw: text)`
///   is treated like the text of the literal.
/// - The first `?` of the literal starts a query, to which the task's parameters are appended. Values interpolated into
///   the query are escaped in the same way. `#` is escaped, because fragments aren't sent (RFC 9110 §7.1).
/// - A `.` or `..` segment, even if written as `%2E`, fails the call, because it refers to another resource (RFC 3986
///   §5.2.4).
public struct RequestPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// Path and query, escaped.
    package let escaped: String

    /// Creates a path from a literal without interpolations.
    public init(stringLiteral value: String) {
        self.init(raw: value)
    }

    /// Creates a path from a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        escaped = stringInterpolation.escaped
    }

    /// Creates a path from a string at run time. Like a literal, its `/`, `?` and `%2F` aren't escaped.
    public init(raw text: String) {
        var interpolation = StringInterpolation(literalCapacity: text.utf8.count, interpolationCount: 0)
        interpolation.appendLiteral(text)
        self.init(stringInterpolation: interpolation)
    }

    /// The string interpolation of a ``RequestPath``.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var escaped = ""

        /// Reserves capacity for the literal and its interpolations.
        public init(literalCapacity: Int, interpolationCount: Int) {
            if interpolationCount > 0 { escaped.reserveCapacity(literalCapacity + 16 * interpolationCount) }
        }

        /// Appends a part of the literal.
        public mutating func appendLiteral(_ literal: String) {
            escaped += PercentEncoding.encode(escapedText: literal)
        }

        /// Appends a number, a Boolean value, or another losslessly convertible value as one segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Appends an integer as one segment.
        public mutating func appendInterpolation(_ value: Int) {
            escaped += value.description
        }

        /// Appends a string as one segment.
        public mutating func appendInterpolation(_ value: String) {
            escaped += PercentEncoding.encode(value, allowing: .unreserved)
        }

        /// Appends a string as one segment.
        public mutating func appendInterpolation(_ value: Substring) {
            escaped += PercentEncoding.encode(value, allowing: .unreserved)
        }

        /// Appends the raw value of an enum or a typed identifier as one segment.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Appends a UUID in its canonical uppercase form.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
        }

        /// Appends a string without escaping `/` and `?`, like the literal.
        public mutating func appendInterpolation(raw text: String) {
            appendLiteral(text)
        }

        /// Optional values aren't allowed in a path.
        @available(*, unavailable, message: "Unwrap the optional: a missing value would silently name another resource")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}
    }
}

extension RequestPath: RedactedDescription {
    /// The path as it is sent, without its query, which may contain secrets.
    var redactedDescription: String { RedactedURL(escaped).description }
}

extension RequestPath {
    /// Appends this path to a base URL, and its query to the base URL's query. An empty path leaves the base URL
    /// unchanged.
    func url(below baseURL: URL) throws(InvalidRequest) -> URL {
        // A URL with another scheme is also invalid, but is returned so that the error can show it.
        guard baseURL.isCallable || !baseURL.hasHTTPScheme else {
            throw .unsupportedURL(baseURL.absoluteString)
        }
        guard !escaped.isEmpty else { return baseURL }
        let text = try text(below: baseURL.absoluteString)
        guard let url = URL(escaped: text) else { throw .unreadableURL(text) }
        return url
    }

    /// The text of ``url(below:)`` if it is certainly a valid URL without a query, as most are; otherwise `nil`.
    func plainText(below baseURL: URL) -> String? {
        guard !escaped.isEmpty, !escaped.containsAny(of: "?.%"), baseURL.isCallable else { return nil }
        let base = baseURL.absoluteString
        return base.containsAny(of: "?#") ? nil : Self.join(base, path: escaped)
    }

    private func text(below base: String) throws(InvalidRequest) -> String {
        let (path, query) = Self.split(escaped[...], at: "?")
        guard !Self.hasDotSegment(path) else { throw .dotSegment(path: String(path)) }
        let (base, baseQuery) = Self.split(Self.split(base[...], at: "#").before, at: "?")
        var text = Self.join(String(base), path: String(path))
        var mark = "?"
        for query in [baseQuery, query] {
            guard let query, !query.isEmpty else { continue }
            text += mark + query
            mark = "&"
        }
        return text
    }

    /// Joins both with exactly one slash. Returns the base if the path is empty.
    private static func join(_ base: String, path: String) -> String {
        guard !path.isEmpty else { return base }
        let slash = UInt8(ascii: "/")
        switch (base.utf8.last == slash, path.utf8.first == slash) {
        case (true, true): return base + path.dropFirst()
        case (false, false): return base + "/" + path
        default: return base + path
        }
    }

    private static func split(_ text: Substring, at mark: Unicode.Scalar) -> (before: Substring, after: Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }

    /// Whether a segment is `.` or `..`, escaped or not (RFC 3986 §3.3). URL parsers resolve such segments.
    private static func hasDotSegment(_ path: Substring) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            var rest = segment
            var dots = 0
            while let dot = [".", "%2e", "%2E"].first(where: { rest.starts(with: $0.utf8) }) {
                rest = rest.dropFirst(dot.utf8.count)
                dots += 1
            }
            return rest.isEmpty && (1...2).contains(dots)
        }
    }
}

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

        /// Appends a string, a number, a Boolean value, or another losslessly convertible value as one segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            escaped += PercentEncoding.encode(value.description, allowing: .unreserved)
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

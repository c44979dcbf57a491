// SPDX-License-Identifier: MIT
import Foundation

/// The path of a call below its base URL, written as a string literal whose interpolations cannot break out of their place.
///
/// ```swift
/// var path: RequestPath { "/users/\(name)/posts" }
/// ```
/// With the name `a/../b?c` that is `/users/a%2F..%2Fb%3Fc/posts`: one segment.
///
/// - The literal's own text is kept; a character that RFC 3986 §3.3 does not allow in a path is escaped, and `%2F` stays.
/// - An interpolated value is escaped to RFC 3986 §2.3's unreserved characters. `\(raw: text)` is read like the literal's text.
/// - The first `?` of the literal starts a query, to which the task's parameters are appended; a value interpolated into it
///   is escaped just as strictly. `#` is escaped: a fragment is not sent (RFC 9110 §7.1).
/// - A segment that is `.` or `..`, also when written `%2E`, is an error of the call: it would mean another resource
///   (RFC 3986 §5.2.4).
public struct RequestPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// Path and query, escaped.
    let escaped: String

    /// The path of a literal without interpolations.
    public init(stringLiteral value: String) {
        self.init(raw: value)
    }

    /// The path of a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) {
        escaped = stringInterpolation.escaped
    }

    /// The path of a text made at run time, read like a literal: `/`, `?` and `%2F` in it mean what they say.
    public init(raw text: String) {
        var interpolation = StringInterpolation(literalCapacity: text.utf8.count, interpolationCount: 0)
        interpolation.appendLiteral(text)
        self.init(stringInterpolation: interpolation)
    }

    /// Collects the pieces of a ``RequestPath``.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var escaped = ""

        /// Room for the literal's pieces and some for each interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {
            if interpolationCount > 0 { escaped.reserveCapacity(literalCapacity + 16 * interpolationCount) }
        }

        /// Adds a piece of the literal.
        public mutating func appendLiteral(_ literal: String) {
            escaped += PercentEncoding.encode(escapedText: literal)
        }

        /// Adds a number, a Bool, or another value with an exact text, as one segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Adds an integer, whose digits need no escaping, as one segment.
        public mutating func appendInterpolation(_ value: Int) {
            escaped += value.description
        }

        /// Adds a text as one segment.
        public mutating func appendInterpolation(_ value: String) {
            escaped += PercentEncoding.encode(value, allowing: .unreserved)
        }

        /// Adds a text as one segment.
        public mutating func appendInterpolation(_ value: Substring) {
            escaped += PercentEncoding.encode(value, allowing: .unreserved)
        }

        /// Adds the raw value of an enum or a typed identifier, as one segment.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Adds an identifier in its usual form, with upper-case letters.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
        }

        /// Adds a text that is read like the literal: `/` and `?` in it mean what they say.
        public mutating func appendInterpolation(raw text: String) {
            appendLiteral(text)
        }

        /// An optional has no place in a path: unwrap it first.
        @available(*, unavailable, message: "Unwrap the optional: a missing value would silently name another resource")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}
    }
}

extension RequestPath: ReflectsDescription {
    /// The path and query as they are sent, with the values of secret query items, such as `token`, redacted.
    public var description: String {
        guard let mark = escaped.utf8.firstIndex(of: UInt8(ascii: "?")) else { return escaped }
        let start = escaped.utf8.index(after: mark)
        return escaped[..<start] + SecretFields.redacted(query: escaped[start...])
    }
}

extension RequestPath {
    /// This path below a base URL, and its query after the base URL's own. An empty path leaves the base URL as it is.
    func url(below baseURL: URL) throws(InvalidRequest) -> URL {
        // A URL with another scheme is invalid as well, but the error may have to show it.
        guard baseURL.isCallable || !baseURL.hasHTTPScheme else {
            throw .unsupportedURL(baseURL.absoluteString)
        }
        guard !escaped.isEmpty else { return baseURL }
        let text = try text(below: baseURL.absoluteString)
        guard let url = URL(escaped: text) else { throw .unreadableURL(text) }
        return url
    }

    private func text(below base: String) throws(InvalidRequest) -> String {
        // Most bases and paths hold none of these bytes: then there is nothing to take apart.
        if !escaped.containsAny(of: "?.%"), !base.containsAny(of: "?#") { return Self.join(base, escaped) }
        let (path, query) = Self.split(escaped[...], at: "?")
        guard !Self.hasDotSegment(path) else { throw .dotSegment(path: String(path)) }
        let (base, baseQuery) = Self.split(Self.split(base[...], at: "#").before, at: "?")
        var text = Self.join(String(base), String(path))
        var mark = "?"
        for query in [baseQuery, query] {
            guard let query, !query.isEmpty else { continue }
            text += mark + query
            mark = "&"
        }
        return text
    }

    /// Both with one slash between them; the base alone when there is no path.
    private static func join(_ base: String, _ path: String) -> String {
        guard !path.isEmpty else { return base }
        return ContiguousText.read(base) { base in
            ContiguousText.read(path) { path in
                let slash = UInt8(ascii: "/")
                let base = UnsafeBufferPointer(rebasing: base.last == slash ? base.dropLast() : base[...])
                let path = UnsafeBufferPointer(rebasing: path.first == slash ? path.dropFirst() : path[...])
                return String(unsafeUninitializedCapacity: base.count + 1 + path.count) { text in
                    let mark = text.initialize(fromContentsOf: base)
                    text.initializeElement(at: mark, to: slash)
                    return text[(mark + 1)...].initialize(fromContentsOf: path)
                }
            }
        }
    }

    private static func split(_ text: Substring, at mark: Unicode.Scalar) -> (before: Substring, after: Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }

    /// Whether a segment is `.` or `..`, escaped or not (RFC 3986 §3.3): a client removes it and its parent.
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

extension String {
    /// Whether one of some characters below `@` is in it.
    fileprivate func containsAny(of characters: StaticString) -> Bool {
        var wanted: UInt64 = 0
        for byte in UnsafeBufferPointer(start: characters.utf8Start, count: characters.utf8CodeUnitCount) {
            wanted |= 1 << UInt64(byte)
        }
        return ContiguousText.read(self) { bytes in
            bytes.contains { $0 < 64 && wanted &>> UInt64($0) & 1 == 1 }
        }
    }
}

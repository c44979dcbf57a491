// SPDX-License-Identifier: MIT

/// A `multipart/form-data` body (RFC 7578): what a browser sends for a form with files.
///
/// ```swift
/// let form: MultipartForm = [
///     .text("Holiday", name: "album"),
///     .file(url, name: "photo"),
/// ]
/// let other = MultipartForm {
///     .json(user, name: "user")
///     if let avatar { .image(avatar) }
/// }
/// ```
///
/// Making a form never fails and reads nothing; what is wrong with it is said by ``data()`` and ``bodySource()``, as a
/// ``MultipartError`` that names the part.
///
/// Two forms are equal when their parts are: the boundary only frames them, and a random one differs between two forms
/// that mean the same.
public struct MultipartForm: Sendable {
    /// The parts, in the order in which they are sent.
    public var parts: [Part]
    /// The line between the parts, without its leading `--`: 1–70 characters of RFC 2046 §5.1.1, not ending in a space.
    public var boundary: String

    /// A form of those parts.
    ///
    /// - Parameters:
    ///   - parts: the parts in order; none is an error when the body is made.
    ///   - boundary: the line between the parts; default: a random one of 128 bits, which no data holds by chance, so
    ///     the data is not searched for it. One that RFC 2046 does not allow is an error when the body is made.
    public init(parts: [Part], boundary: String? = nil) {
        self.parts = parts
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// A boundary of 128 random bits: `TargetKit-` and 32 hexadecimal digits.
    public static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        return randomBoundary(using: &generator)
    }

    /// A boundary of 128 bits from that generator: `TargetKit-` and 32 hexadecimal digits.
    public static func randomBoundary(using generator: inout some RandomNumberGenerator) -> String {
        MultipartBoundary(using: &generator).text
    }

    /// The value of the request's `Content-Type`: `multipart/form-data; boundary=…`, the boundary in quotes where
    /// RFC 2045 §5.1 asks for them. Without a boundary when it is one that RFC 2046 does not allow, and no body can be
    /// made.
    public var contentType: String {
        MultipartBoundary(boundary).map { "multipart/form-data; boundary=\($0.parameterValue)" }
            ?? "multipart/form-data"
    }

    /// Whether every part's bytes are in memory, so that ``data()`` needs no file and no stream.
    public var isInMemory: Bool {
        parts.allSatisfy(\.content.isInMemory)
    }
}

extension MultipartForm: Hashable {
    /// Whether both have equal parts in the same order; the boundary does not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.parts == right.parts
    }

    /// Feeds the parts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts)
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// A form of those parts with a random boundary.
    public init(arrayLiteral elements: Part...) {
        self.init(parts: elements)
    }
}

extension MultipartForm {
    /// A form of the parts that the closure lists, with `if`, `switch` and `for` where they are needed.
    ///
    /// - Parameters:
    ///   - boundary: as in ``init(parts:boundary:)``; default: a random one.
    ///   - parts: lists the parts, in the order in which they are sent.
    public init(boundary: String? = nil, @Builder _ parts: () throws -> [Part]) rethrows {
        try self.init(parts: parts(), boundary: boundary)
    }

    /// Collects the parts of a closure.
    @resultBuilder
    public enum Builder: Sendable {
        /// One part.
        public static func buildExpression(_ part: Part) -> [Part] { [part] }
        /// Several parts.
        public static func buildExpression(_ parts: [Part]) -> [Part] { parts }
        /// The statements of a block, in order.
        public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
        /// An `if` without `else`.
        public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
        /// The first branch of an `if` or `switch`.
        public static func buildEither(first parts: [Part]) -> [Part] { parts }
        /// Another branch of an `if` or `switch`.
        public static func buildEither(second parts: [Part]) -> [Part] { parts }
        /// A `for` loop.
        public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
        /// An `if #available`.
        public static func buildLimitedAvailability(_ parts: [Part]) -> [Part] { parts }
    }
}

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
/// Making a form never fails and reads nothing; what is wrong with it is said by ``data()`` and `bodySource()`, as a
/// ``MultipartError`` that names the part.
///
/// Two forms are equal when their parts are: the boundary only frames them, and a random one differs between two forms
/// that mean the same.
public struct MultipartForm: Sendable {
    /// The parts, in the order in which they are sent.
    public var parts: [Part]
    /// The line between the parts, without its leading `--`: 1–70 characters of RFC 2046 §5.1.1, not ending in a space.
    public var boundary: String

    /// Creates a form.
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
    package static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        return randomBoundary(using: &generator)
    }

    /// A boundary of 128 bits from that generator: `TargetKit-` and 32 hexadecimal digits.
    package static func randomBoundary(using generator: inout some RandomNumberGenerator) -> String {
        MultipartBoundary(using: &generator).text
    }

    /// The value of the request's `Content-Type`: `multipart/form-data; boundary=…`, the boundary in quotes where
    /// RFC 2045 §5.1 asks for them. Without a boundary when it is one that RFC 2046 does not allow, and no body can be
    /// made.
    package var contentType: String {
        MultipartBoundary(boundary).map { "multipart/form-data; boundary=\($0.parameterValue)" }
            ?? "multipart/form-data"
    }

    /// Whether every part's bytes are in memory, so that ``data()`` needs no file and no stream.
    package var isInMemory: Bool {
        parts.allSatisfy(\.content.isInMemory)
    }
}

extension MultipartForm: Hashable {
    /// Whether both have equal parts in the same order, regardless of the boundary.
    public static func == (left: Self, right: Self) -> Bool {
        left.parts == right.parts
    }

    /// Hashes the parts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts)
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Creates a form with a random boundary.
    public init(arrayLiteral elements: Part...) {
        self.init(parts: elements)
    }
}

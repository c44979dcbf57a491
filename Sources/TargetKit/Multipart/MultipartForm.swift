// SPDX-License-Identifier: MIT

/// A `multipart/form-data` body (RFC 7578): what a browser sends for a form with files.
///
/// ```swift
/// let form: MultipartForm = [
///     .text("Holiday", name: "album"),
///     .file(url, name: "photo"),
/// ]
/// var other = MultipartForm(parts: [.json(user, name: "user")])
/// if let avatar { other.parts.append(.image(avatar)) }
/// ```
///
/// Creating a form never fails and reads nothing. If a part is invalid, the call fails with an error that names the part.
public struct MultipartForm: Sendable {
    /// The parts, in the order in which they are sent.
    public var parts: [Part]
    package var boundary: String

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - parts: The parts in order. A form without parts is an error of the call.
    ///   - boundary: The delimiter between the parts, without its leading `--`: 1–70 characters of RFC 2046 §5.1.1, not
    ///     ending in a space; any other is an error of the call. Default: 128 random bits.
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

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Creates a form with a random boundary.
    public init(arrayLiteral elements: Part...) {
        self.init(parts: elements)
    }
}

// SPDX-License-Identifier: MIT

/// A `multipart/form-data` body (RFC 7578), the format of HTML forms with files.
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
/// Creating a form doesn't fail and doesn't read files. ``data()`` and `bodySource()` throw a ``MultipartError`` that
/// names the invalid part.
///
/// Two forms are equal if their parts are equal. The boundary is ignored, because it is random by default.
public struct MultipartForm: Sendable {
    /// The parts, in the order in which they are sent.
    public var parts: [Part]
    /// The boundary between the parts, without the leading `--`: 1–70 characters (RFC 2046 §5.1.1), not ending in a
    /// space.
    public var boundary: String

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - parts: The parts in order. Creating the body of an empty form is an error.
    ///   - boundary: The boundary between the parts; default: 128 random bits, which can't occur in the data by chance.
    ///     Creating a body with an invalid boundary (RFC 2046) is an error.
    public init(parts: [Part], boundary: String? = nil) {
        self.parts = parts
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// A boundary of 128 random bits: `TargetKit-` and 32 hexadecimal digits.
    private static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        return randomBoundary(using: &generator)
    }

    /// A boundary of 128 bits from the generator: `TargetKit-` and 32 hexadecimal digits.
    static func randomBoundary(using generator: inout some RandomNumberGenerator) -> String {
        let words: [UInt64] = [generator.next(), generator.next()]
        let bytes = words.flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
        return "TargetKit-" + bytes.hexadecimal
    }

    /// The value of the request's `Content-Type`: `multipart/form-data; boundary=…`, with the boundary quoted where RFC
    /// 2045 §5.1 requires it. An invalid boundary is omitted, and creating the body fails.
    package var contentType: String {
        MultipartBoundary(boundary).map { "multipart/form-data; boundary=\($0.parameterValue)" }
            ?? "multipart/form-data"
    }

    /// Whether all parts are in memory, so that ``data()`` succeeds.
    package var isInMemory: Bool {
        parts.allSatisfy(\.content.isInMemory)
    }
}

extension MultipartForm {
    /// Whether a part is read from a ``BodySource``.
    var hasSources: Bool {
        parts.contains { part in
            if case .stream = part.content { true } else { false }
        }
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

extension MultipartForm {
    /// Returns the complete body in memory. The contents of the parts are copied once.
    ///
    /// Every line ends in CR LF, including the closing boundary (RFC 2046 §5.1.1). There is no epilogue.
    ///
    /// - Throws: ``MultipartError`` if the form has no parts, an invalid boundary or an invalid part, or if a part is a
    ///   file or a stream. Use `bodySource()` for forms with files or streams.
    public func data() throws(MultipartError) -> Data { try body(inMemory: true).data }

    /// Returns a source that reads files and streams while they are sent, and can be opened again.
    ///
    /// The size of each file is read immediately, so that the length of the body is known. The complete body is never
    /// in memory or in a temporary file. Each reader has at most one file open.
    ///
    /// - Throws: ``MultipartError`` if the form has no parts, an invalid boundary or an invalid part, a file that is
    ///   missing or unreadable, or a stream of unknown length. A file or stream with a different length causes an error
    ///   while reading.
    package func bodySource() throws(MultipartError) -> any BodySource { try body(inMemory: false) }

    private func body(inMemory: Bool) throws(MultipartError) -> MultipartBodySource {
        guard !parts.isEmpty else { throw MultipartError(reason: .emptyForm) }
        guard let checked = MultipartBoundary(boundary) else { throw MultipartError(reason: .boundary(boundary)) }
        var framing = MultipartFraming(boundary: checked, partCount: parts.count)
        var source = MultipartBodySource()
        for (index, part) in parts.enumerated() {
            let position = MultipartError.Position(index: index, name: part.name)
            try framing.appendHead(of: part, at: position)
            source.append(Data(framing.take()))
            if inMemory, !part.content.isInMemory { throw MultipartError(reason: .notInMemory, position: position) }
            try source.append(part.content, of: position)
            framing.appendEndOfContent()
        }
        framing.appendClosing()
        source.append(Data(framing.take()))
        return source
    }
}

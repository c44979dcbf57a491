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
        var generator = SystemRandomNumberGenerator()
        self.boundary = boundary ?? Self.randomBoundary(using: &generator)
    }

    /// A boundary of 128 bits from the generator: `TargetKit-` and 32 hexadecimal digits.
    static func randomBoundary(using generator: inout some RandomNumberGenerator) -> String {
        let words: [UInt64] = [generator.next(), generator.next()]
        let digits = words.map { String($0, radix: 16) }
        return "TargetKit-" + digits.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
    }

    /// The value of the request's `Content-Type`: `multipart/form-data; boundary=…`, with the boundary quoted where RFC
    /// 2045 §5.1 requires it. An invalid boundary is omitted, and creating the body fails.
    package var contentType: String {
        guard hasValidBoundary else { return "multipart/form-data" }
        // Boundaries can't contain `"` or `\`.
        return "multipart/form-data; boundary=" + (boundary.isToken ? boundary : "\"\(boundary)\"")
    }

    /// Whether the boundary has 1–70 `bchars` and doesn't end in a space (RFC 2046 §5.1.1).
    private var hasValidBoundary: Bool {
        (1...70).contains(boundary.utf8.count) && ASCIISet.boundary.containsAll(of: boundary)
            && boundary.utf8.last != 0x20
    }

    /// Whether all parts are in memory, so that ``data()`` succeeds.
    var isInMemory: Bool {
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
        guard hasValidBoundary else { throw MultipartError(reason: .boundary(boundary)) }
        var source = MultipartBodySource()
        var line = "--\(boundary)\r\n"
        for (index, part) in parts.enumerated() {
            let position = MultipartError.Position(index: index, name: part.name)
            source.append(Data((line + (try part.head(at: position))).utf8))
            if inMemory, !part.content.isInMemory { throw MultipartError(reason: .notInMemory, position: position) }
            try source.append(part.content, of: position)
            line = "\r\n--\(boundary)\r\n"
        }
        source.append(Data("\r\n--\(boundary)--\r\n".utf8))
        return source
    }
}

// SPDX-License-Identifier: MIT

extension MultipartForm {
    /// Returns the complete body in memory. Each byte is copied once.
    ///
    /// Every line ends in CR LF, including the closing boundary (RFC 2046 §5.1.1). There is no epilogue.
    ///
    /// - Throws: ``MultipartError`` if the form has no parts, an invalid boundary or an invalid part, or if a part is a
    ///   file or a stream. Use `bodySource()` for forms with files or streams.
    public func data() throws(MultipartError) -> Data {
        var framing = try emptyFraming()
        var contents: [(data: Data, offset: Int)] = []
        contents.reserveCapacity(parts.count)
        var size = 0
        for (index, part) in parts.enumerated() {
            let position = MultipartError.Position(index: index, name: part.name)
            try framing.appendHead(of: part, at: position)
            let data = try content(of: part, at: position)
            contents.append((data, framing.bytes.count))
            size += data.count
            framing.appendEndOfContent()
        }
        framing.appendClosing()
        var body = Data(capacity: framing.bytes.count + size)
        var start = 0
        for content in contents {
            body.append(contentsOf: framing.bytes[start..<content.offset])
            body.append(content.data)
            start = content.offset
        }
        body.append(contentsOf: framing.bytes[start...])
        return body
    }

    /// Returns a source that reads files and streams while they are sent, and can be opened again.
    ///
    /// The size of each file is read immediately, so that the length of the body is known. The complete body is never
    /// in memory or in a temporary file. Each reader has at most one file open.
    ///
    /// - Throws: ``MultipartError`` if the form has no parts, an invalid boundary or an invalid part, a file that is
    ///   missing or unreadable, or a stream of unknown length. A file or stream with a different length causes an error
    ///   while reading.
    package func bodySource() throws(MultipartError) -> any BodySource {
        var framing = try emptyFraming()
        var source = MultipartBodySource()
        for (index, part) in parts.enumerated() {
            let position = MultipartError.Position(index: index, name: part.name)
            try framing.appendHead(of: part, at: position)
            source.append(Data(framing.take()))
            try source.append(part.content, of: position)
            framing.appendEndOfContent()
        }
        framing.appendClosing()
        source.append(Data(framing.take()))
        return source
    }

    private func emptyFraming() throws(MultipartError) -> MultipartFraming {
        guard !parts.isEmpty else { throw MultipartError(reason: .emptyForm) }
        guard let checked = MultipartBoundary(boundary) else { throw MultipartError(reason: .boundary(boundary)) }
        return MultipartFraming(boundary: checked, partCount: parts.count)
    }

    private func content(of part: Part, at position: MultipartError.Position) throws(MultipartError) -> Data {
        switch part.content {
        case .data(let data): return data
        case .notEncodable(let why): throw MultipartError(reason: .notEncodable(why), position: position)
        case .file, .stream: throw MultipartError(reason: .notInMemory, position: position)
        }
    }
}

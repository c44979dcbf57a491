// SPDX-License-Identifier: MIT

/// The framing of the parts: boundary lines and header fields (RFC 7578 §4), collected in one buffer.
struct MultipartFraming {
    private(set) var bytes: [UInt8] = []
    private let boundary: String

    init(boundary: MultipartBoundary, partCount: Int) {
        self.boundary = boundary.text
        bytes.reserveCapacity((partCount + 1) * 192)
    }

    /// Appends the boundary line and header of a part.
    ///
    /// - Throws: An error about the part, if a header field contains a line break.
    mutating func appendHead(
        of part: MultipartForm.Part,
        at position: MultipartError.Position
    ) throws(MultipartError) {
        append("--")
        append(boundary)
        append("\r\nContent-Disposition: form-data; name=\"")
        append(escaping: part.name, isName: true)
        if let fileName = part.fileName {
            append("\"; filename=\"")
            append(escaping: fileName)
        }
        append("\"\r\n")
        if let mimeType = part.mimeType, part.headers.isEmpty || !part.headers.contains(.contentType) {
            try appendField("Content-Type", value: mimeType, of: position)
        }
        for field in part.headers.fields {
            // If a part has two Content-Disposition fields, servers differ in which one they use.
            guard field.name.rawValue.isToken, field.name != "Content-Disposition" else {
                throw MultipartError(reason: .headerName(field.name.rawValue), position: position)
            }
            try appendField(field.name.rawValue, value: field.value, of: position)
        }
        append("\r\n")
    }

    /// Appends the line break after a part's content.
    mutating func appendEndOfContent() {
        append("\r\n")
    }

    /// Appends the closing boundary.
    mutating func appendClosing() {
        append("--")
        append(boundary)
        append("--\r\n")
    }

    /// Returns the bytes so far, and removes them.
    mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func appendField(
        _ name: String,
        value: String,
        of part: MultipartError.Position
    ) throws(MultipartError) {
        guard !value.endsHeaderField else { throw MultipartError(reason: .headerValue(name: name), position: part) }
        append(name)
        append(": ")
        append(value)
        append("\r\n")
    }

    /// Appends text with only `"`, CR and LF escaped (HTML standard, "multipart/form-data encoding algorithm"). In a
    /// field's name, HTML first replaces a lone CR or LF with CR LF.
    private mutating func append(escaping text: String, isName: Bool = false) {
        var previous: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 0x22: append("%22")
            case 0x0A where isName && previous == 0x0D: break  // Already written with the CR.
            case 0x0A where isName, 0x0D where isName: append("%0D%0A")
            case 0x0D: append("%0D")
            case 0x0A: append("%0A")
            default: bytes.append(byte)
            }
            previous = byte
        }
    }
}

/// A valid boundary (RFC 2046 §5.1.1): 1–70 `bchars`, not ending in a space.
struct MultipartBoundary: Sendable {
    let text: String

    /// Returns `nil` if RFC 2046 doesn't allow the boundary.
    init?(_ text: String) {
        guard (1...70).contains(text.utf8.count), ASCIISet.boundary.containsAll(of: text),
            text.utf8.last != 0x20
        else {
            return nil
        }
        self.text = text
    }

    /// The parameter value in `Content-Type`, quoted unless it is a token (RFC 2045 §5.1). Boundaries can't contain `"`
    /// or `\`.
    var parameterValue: String {
        ASCIISet.token.containsAll(of: text) ? text : "\"\(text)\""
    }
}

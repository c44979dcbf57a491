// SPDX-License-Identifier: MIT

/// The bytes before a part's content: the boundary line and the part's header fields (RFC 7578 §4).
struct MultipartPartHead {
    private(set) var bytes: [UInt8]

    /// - Throws: a reason, when a header field would break out of its line.
    init(part: MultipartForm.Part, boundary: MultipartBoundary) throws(MultipartError.Reason) {
        bytes = []
        bytes.reserveCapacity(192)
        append("--", boundary.text, "\r\nContent-Disposition: form-data; name=\"")
        append(fieldName: part.name)
        if let fileName = part.fileName {
            append("\"; filename=\"")
            append(escaping: fileName)
        }
        append("\"\r\n")
        if let mimeType = part.mimeType, !part.headers.contains(.contentType) {
            try append(HTTPHeaders.Field(name: .contentType, value: mimeType))
        }
        for field in part.headers {
            try append(field)
        }
        append("\r\n")
    }

    private mutating func append(_ strings: String...) {
        for string in strings { bytes.append(contentsOf: string.utf8) }
    }

    private mutating func append(_ field: HTTPHeaders.Field) throws(MultipartError.Reason) {
        let name = field.name.rawValue
        // A second one would contradict the first, and servers differ in which they believe.
        guard name.isHeaderName, field.name != "Content-Disposition" else { throw .headerName(name) }
        guard !field.value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            throw .headerValue(name: name)
        }
        append(name, ": ", field.value, "\r\n")
    }

    /// Appends a field's name. HTML turns a lone CR or LF in it into CR LF first, in a file name it does not.
    private mutating func append(fieldName: String) {
        guard fieldName.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A }) else { return append(escaping: fieldName) }
        var previous: UInt8 = 0
        for byte in fieldName.utf8 {
            switch byte {
            case 0x0D: append("%0D%0A")
            case 0x0A where previous == 0x0D: break
            case 0x0A: append("%0D%0A")
            case 0x22: append("%22")
            default: bytes.append(byte)
            }
            previous = byte
        }
    }

    /// Appends with `"`, CR and LF escaped, and nothing else: "multipart/form-data encoding algorithm" of the HTML standard.
    private mutating func append(escaping text: String) {
        for byte in text.utf8 {
            switch byte {
            case 0x22: append("%22")
            case 0x0D: append("%0D")
            case 0x0A: append("%0A")
            default: bytes.append(byte)
            }
        }
    }
}

// SPDX-License-Identifier: MIT

extension MultipartForm.Part {
    /// The header fields (RFC 7578 §4), with the empty line after them.
    ///
    /// - Throws: An error about the part, if a header field contains a line break.
    func head(at position: MultipartError.Position) throws(MultipartError) -> String {
        var head = "Content-Disposition: form-data; name=\"" + Self.escaped(name, isName: true)
        if let fileName { head += "\"; filename=\"" + Self.escaped(fileName) }
        head += "\"\r\n"
        var fields = headers.fields
        if let mimeType, !headers.contains(.contentType) {
            fields.insert(HTTPHeaders.Field(name: .contentType, value: mimeType), at: 0)
        }
        for field in fields {
            let name = field.name.rawValue
            // If a part has two Content-Disposition fields, servers differ in which one they use.
            guard name.isToken, field.name != .contentDisposition else {
                throw MultipartError(reason: .headerName(name), position: position)
            }
            guard !field.value.endsHeaderField else {
                throw MultipartError(reason: .headerValue(name: name), position: position)
            }
            head += "\(name): \(field.value)\r\n"
        }
        return head + "\r\n"
    }

    /// The text with only `"`, CR and LF escaped (HTML standard, "multipart/form-data encoding algorithm"). In a field's
    /// name, HTML first replaces a lone CR or LF with CR LF.
    private static func escaped(_ text: String, isName: Bool = false) -> String {
        var bytes: [UInt8] = []
        var previous: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 0x22: bytes += "%22".utf8
            case 0x0A where isName && previous == 0x0D: break  // Already written with the CR.
            case 0x0A where isName, 0x0D where isName: bytes += "%0D%0A".utf8
            case 0x0D: bytes += "%0D".utf8
            case 0x0A: bytes += "%0A".utf8
            default: bytes.append(byte)
            }
            previous = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

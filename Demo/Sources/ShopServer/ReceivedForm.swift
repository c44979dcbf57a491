// SPDX-License-Identifier: MIT
import Foundation

/// A `multipart/form-data` body, read by hand (RFC 7578) so that the server's view of it owes nothing to the client's.
struct ReceivedForm {
    struct Part {
        var fileName: String?
        var contentType: String?
        var data: Data
    }

    private(set) var parts: [String: Part] = [:]

    init(_ body: Data, contentType: String) throws {
        guard contentType.hasPrefix("multipart/form-data"),
            let boundary = Self.parameter("boundary", of: contentType)
        else { throw Problem(.unsupportedMediaType, "Send multipart/form-data with a boundary") }
        // Every line that starts a part, but the body's first, has a line end before it that belongs to the boundary.
        let body = Data("\r\n".utf8) + body
        let line = Data("\r\n--\(boundary)".utf8)
        var start = body.range(of: line)?.upperBound
        while let from = start, let end = body.range(of: line, in: from..<body.endIndex) {
            try add(body[from..<end.lowerBound])
            start = end.upperBound
        }
        guard let start, body[start...].starts(with: Data("--".utf8)) else {
            throw Problem(.badRequest, "The form has no end")
        }
    }

    private mutating func add(_ bytes: Data) throws {
        guard let gap = bytes.range(of: Data("\r\n\r\n".utf8)) else {
            throw Problem(.badRequest, "A part has no end of its head")
        }
        var part = Part(data: Data(bytes[gap.upperBound...]))
        var name: String?
        for line in String(decoding: bytes[..<gap.lowerBound], as: UTF8.self).split(separator: "\r\n") {
            let field = line.lowercased()
            if field.hasPrefix("content-disposition:") {
                name = Self.parameter("name", of: String(line))
                part.fileName = Self.parameter("filename", of: String(line))
            } else if field.hasPrefix("content-type:") {
                part.contentType = line.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)
            }
        }
        guard let name else { throw Problem(.badRequest, "A part has no name") }
        parts[name] = part
    }

    /// The value after `; name=`, without its quotes.
    private static func parameter(_ name: String, of field: String) -> String? {
        guard let start = field.range(of: "; \(name)=")?.upperBound else { return nil }
        let value = field[start...]
        if value.first == "\"" { return String(value.dropFirst().prefix { $0 != "\"" }) }
        return String(value.prefix { $0 != ";" })
    }
}

/// What `POST /media/pictures` gives back.
struct ReceivedPicture: Encodable {
    let caption: String
    let fileName: String
    let contentType: String
    let bytes: Int
    let width: Int
    let height: Int

    /// - Throws: ``Problem`` when the file is no PNG.
    init(file: ReceivedForm.Part, caption: ReceivedForm.Part) throws {
        let bytes = [UInt8](file.data)
        guard bytes.count > 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            throw Problem(.unsupportedMediaType, "The picture is no PNG")
        }
        // The first chunk is always IHDR: its width and height are at bytes 16 and 20.
        func number(at index: Int) -> Int { bytes[index..<index + 4].reduce(0) { $0 << 8 | Int($1) } }
        self.caption = String(decoding: caption.data, as: UTF8.self)
        self.fileName = file.fileName ?? ""
        self.contentType = file.contentType ?? ""
        self.bytes = bytes.count
        self.width = number(at: 16)
        self.height = number(at: 20)
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// The format of a body, which determines how secrets in it are found.
package enum BodyFormat: Sendable, Hashable {
    /// Parts with their own header fields (RFC 2046 §5.1).
    case multipart
    /// Pairs of `name=value`, separated by `&`.
    case form
    /// Any other format, such as JSON, XML, text, or bytes.
    case other

    /// The format of a body. Its type is only a hint, because servers and clients often send a wrong type.
    package init(of data: Data, contentType: String?) {
        let type = contentType?.mediaType
        if type?.hasPrefix("multipart/") == true || Self.isMultipart(data) {
            self = .multipart
        } else {
            self = Self.isForm(data, type: type) ? .form : .other
        }
    }

    /// Whether the body starts with a boundary and the header of a part (RFC 2046 §5.1.1), regardless of its type.
    private static func isMultipart(_ data: Data) -> Bool {
        guard data.starts(with: Array("--".utf8)) else { return false }
        return String(decoding: data.prefix(512), as: UTF8.self).lowercased().contains("\ncontent-disposition:")
    }

    /// Whether the body is a form: by its type, unless it starts like JSON; without a type, if it is like `a=b`,
    /// without characters that a form escapes.
    private static func isForm(_ data: Data, type: String?) -> Bool {
        let first = data.first { $0 > 0x20 }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return false }
        if type == "application/x-www-form-urlencoded" { return true }
        guard type == nil || type == "text/plain" else { return false }
        return data.contains(UInt8(ascii: "="))
            && !data.contains { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "<") }
    }

    /// Whether the bytes are UTF-8 without control characters other than tabs and line breaks.
    package static func isText(_ data: Data) -> Bool {
        guard !data.contains(where: { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D) || $0 == 0x7F }) else {
            return false
        }
        return String(data: data, encoding: .utf8) != nil
    }
}

// MARK: - Whole bodies

extension Redaction {
    /// Multipart bodies within parts are read to this depth.
    private static let depthLimit = 4

    /// The body with its secrets redacted; unchanged if it contains none or isn't text.
    package func body(_ data: Data, contentType: String?) -> Data {
        isNone ? data : body(data, contentType: contentType, depth: 0)
    }

    private func body(_ data: Data, contentType: String?, depth: Int) -> Data {
        guard !data.isEmpty else { return data }
        switch BodyFormat(of: data, contentType: contentType) {
        case .multipart:
            guard depth < Self.depthLimit, let parts = MultipartParts(data, contentType: contentType) else {
                return text(data)
            }
            return parts.replacing(
                content: { part in
                    if part.names.contains(where: { isSecret(parameter: $0) }) {
                        return Data(SecretFields.placeholder.utf8)
                    }
                    return body(part.content, contentType: part.headers[.contentType], depth: depth + 1)
                },
                value: { name, value in header(value, name: name) },
                text: { text in self.text(text) }
            )
        case .form:
            guard let form = String(data: data, encoding: .utf8) else { return text(data) }
            return Data(self.form(form, limit: .max).bytes)
        case .other:
            let type = contentType?.mediaType ?? ""
            if type == "text/csv", let table = TableRedactor.redacted(data, by: self) { return text(table) }
            guard Self.isTextType(type) || !Self.isMedia(type) && BodyFormat.isText(data) else { return data }
            return text(data)
        }
    }

    private func text(_ data: Data) -> Data {
        if data.contains(0), let redacted = utf16(data) { return redacted }
        return Data(TextRedactor.redacted(data, by: self, limit: .max).bytes)
    }

    /// The redacted body in UTF-16, with or without a byte order mark; `nil` if the bytes aren't UTF-16.
    private func utf16(_ data: Data) -> Data? {
        let mark = data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) ? data.prefix(2) : Data()
        let isBigEndian = mark.isEmpty ? data.first == 0 : mark.first == 0xFE
        let encoding: String.Encoding = isBigEndian ? .utf16BigEndian : .utf16LittleEndian
        guard let text = String(data: data.dropFirst(mark.count), encoding: encoding) else { return nil }
        let redacted = TextRedactor.redacted(text, by: self)
        return redacted == text ? data : redacted.data(using: encoding).map { mark + $0 }
    }

    private static func isTextType(_ type: String) -> Bool {
        type.hasPrefix("text/") || ["json", "xml", "javascript", "yaml", "graphql"].contains(where: type.hasSuffix)
    }

    private static func isMedia(_ type: String) -> Bool {
        ["image/", "audio/", "video/", "font/"].contains(where: type.hasPrefix)
    }
}

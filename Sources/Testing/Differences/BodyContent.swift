// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles
import TargetKitJSON

/// A body parsed by its format, for text and comparisons.
package enum BodyContent: Sendable, Hashable {
    case empty
    case json(JSONValue)
    case form([FormItem])
    case multipart([Part])
    case text(String)
    case bytes(Data)

    /// A part of a multipart body.
    package struct Part: Sendable, Hashable {
        package let headers: HTTPHeaders
        package let content: BodyContent
    }

    /// Parses a body. The declared type is only a hint, because any body that starts like JSON and is valid counts as
    /// JSON.
    package init(_ data: Data, contentType: String?) {
        self.init(data, contentType: contentType, depth: 0)
    }

    private init(_ data: Data, contentType: String?, depth: Int) {
        guard !data.isEmpty else {
            self = .empty
            return
        }
        switch BodyFormat(of: data, contentType: contentType) {
        case .multipart:
            if depth < 4, let parts = MultipartParts(data, contentType: contentType) {
                self = .multipart(
                    parts.parts.map { part in
                        let type = part.headers[.contentType] ?? "text/plain; charset=utf-8"
                        let isField = part.headers[.contentType] == nil
                        let content =
                            isField ? Self.plain(part.content) : Self(part.content, contentType: type, depth: depth + 1)
                        return Part(headers: part.headers, content: content)
                    }
                )
                return
            }
        case .form:
            if let form = String(data: data, encoding: .utf8) {
                self = .form(FormItem.items(of: form))
                return
            }
        case .other:
            if Self.seemsJSON(data, contentType: contentType), let json = try? JSONValue(parsing: data) {
                self = .json(json)
                return
            }
        }
        self = Self.plain(data)
    }

    /// Whether a body is declared as JSON or starts like JSON.
    package static func seemsJSON(_ data: Data, contentType: String?) -> Bool {
        guard let first = data.first(where: { $0 > 0x20 }) else { return false }
        let isDeclared = contentType?.mediaType.hasSuffix("json") == true
        return isDeclared || first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// The content as text if possible, or else as bytes.
    private static func plain(_ data: Data) -> BodyContent {
        guard !data.isEmpty else { return .empty }
        guard BodyFormat.isText(data), let text = String(data: data, encoding: .utf8) else { return .bytes(data) }
        return .text(text)
    }

    /// The readable content: JSON on several lines with sorted keys, decoded form items on separate lines, the parts of
    /// a multipart body with a fixed boundary, or the size and digest of bytes.
    package var text: String {
        switch self {
        case .empty: ""
        case .json(let json): String(decoding: json.jsonData(sortedKeys: true, pretty: true), as: UTF8.self)
        case .form(let items): items.map(\.line).joined(separator: "\n")
        case .text(let text): text
        case .bytes(let data): data.summary
        case .multipart(let parts):
            parts.map { part in
                let fields = part.headers.sortedLines(of: part.content).map { $0 + "\n" }.joined()
                return "--\(Self.boundary)\n\(fields)\n\(part.content.text)\n"
            }.joined() + "--\(Self.boundary)--"
        }
    }

    /// Replaces the random boundary of a multipart body.
    fileprivate static let boundary = "boundary"

    /// The name of the format in messages.
    package var formatName: String {
        switch self {
        case .empty: "no body"
        case .json: "JSON"
        case .form: "a form"
        case .multipart: "a multipart body"
        case .text: "text"
        case .bytes: "bytes"
        }
    }
}

extension FormItem {
    /// The item on one line.
    fileprivate var line: String {
        func escaped(_ text: String) -> String {
            text.replacingOccurrences(of: "\r", with: "\\r").replacingOccurrences(of: "\n", with: "\\n")
        }
        return value.map { escaped(name) + "=" + escaped($0) } ?? escaped(name)
    }
}

extension Data {
    /// The size and the start of the SHA-256 digest.
    package var summary: String {
        let digest = SHA256Hasher.digest(of: self).prefix(8)
        let digits = digest.hexadecimal
        return "<\(count) bytes, SHA-256 \(digits)…>"
    }
}

extension HTTPHeaders {
    /// The fields as lines sorted by name, with a fixed boundary in the type of a multipart body.
    func sortedLines(of content: BodyContent) -> [String] {
        let isMultipart = if case .multipart = content { true } else { false }
        return fields.enumerated()
            .sorted { one, other in
                let names = (one.element.name.rawValue.lowercased(), other.element.name.rawValue.lowercased())
                return names.0 == names.1 ? one.offset < other.offset : names.0 < names.1
            }
            .map { _, field in
                var value = field.value
                if isMultipart, field.name == .contentType {
                    value = MultipartParts.replacingBoundary(of: value, with: BodyContent.boundary)
                }
                return "\(field.name.rawValue): \(value)".inOneLine
            }
    }
}

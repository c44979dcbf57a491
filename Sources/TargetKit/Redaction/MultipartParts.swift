// SPDX-License-Identifier: MIT
import Foundation

/// The parts of a multipart body (RFC 2046 §5.1.1), as ranges of its bytes.
package struct MultipartParts: Sendable {
    /// One part.
    package struct Part: Sendable {
        /// The header fields.
        package let headers: HTTPHeaders
        /// The bytes after the empty line.
        package let content: Data

        /// The name in `Content-Disposition`; `nil` if there is none.
        package var name: String? { parameter("name") }

        private func parameter(_ name: String) -> String? {
            guard let field = headers["Content-Disposition"] else { return nil }
            return MultipartParts.parameter(name, of: field)
        }
    }

    /// The boundary, without the hyphens before it.
    package let boundary: String
    /// The parts, in order.
    package let parts: [Part]
    private let data: Data
    private let contents: [Range<Data.Index>]

    /// Reads a body; `nil` if it has no boundary, or no part.
    ///
    /// - Parameter contentType: The `Content-Type` with the boundary; without one, the first line is taken for it.
    package init?(_ data: Data, contentType: String?) {
        guard let boundary = contentType.flatMap({ Self.parameter("boundary", of: $0) }) ?? Self.boundary(in: data),
            !boundary.isEmpty
        else { return nil }
        let delimiter = Data("--\(boundary)".utf8)
        var (parts, contents): ([Part], [Range<Data.Index>]) = ([], [])
        var delimiterEnd = data.range(of: delimiter)?.upperBound
        while let start = delimiterEnd, !data[start...].starts(with: "--".utf8) {
            let next = data.range(of: Data("\r\n".utf8) + delimiter, in: start..<data.endIndex)
            let end = next?.lowerBound ?? data.endIndex
            guard let head = data.range(of: Data("\r\n\r\n".utf8), in: start..<end) else { break }
            let lines = String(decoding: data[start..<head.lowerBound], as: UTF8.self)
            parts.append(Part(headers: Self.headers(lines), content: Data(data[head.upperBound..<end])))
            contents.append(head.upperBound..<end)
            delimiterEnd = next?.upperBound
        }
        guard !parts.isEmpty else { return nil }
        self.boundary = boundary
        self.parts = parts
        self.data = data
        self.contents = contents
    }

    /// The body with other contents of its parts.
    package func replacing(_ content: (Part) -> Data) -> Data {
        var result = Data()
        var end = data.startIndex
        for (part, range) in zip(parts, contents) {
            result += data[end..<range.lowerBound] + content(part)
            end = range.upperBound
        }
        return result + data[end...]
    }

    private static func headers(_ lines: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines.components(separatedBy: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers.add(String(line[..<colon]), value: value)
        }
        return headers
    }

    private static func boundary(in data: Data) -> String? {
        guard data.starts(with: "--".utf8), let end = data.range(of: Data("\r\n".utf8)) else { return nil }
        return String(data: data[data.startIndex..<end.lowerBound].dropFirst(2), encoding: .utf8)
    }

    /// The value of a field's parameter, without quotation marks.
    private static func parameter(_ name: String, of field: String) -> String? {
        var rest = field[...]
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
            guard let sign = rest.firstIndex(of: "=") else { return nil }
            let isFound = rest[..<sign].equalsIgnoringASCIICase(name)
            var value = rest[rest.index(after: sign)...]
            if value.first == "\"" {
                value = value.dropFirst()
                let end = value.firstIndex(of: "\"") ?? value.endIndex
                rest = value[end...]
                value = value[..<end]
            } else {
                value = value.prefix { $0 != ";" }
                rest = rest[value.endIndex...]
            }
            if isFound { return value.trimmingCharacters(in: .whitespaces) }
        }
        return nil
    }
}

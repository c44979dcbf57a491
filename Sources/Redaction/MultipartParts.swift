// SPDX-License-Identifier: MIT
import TargetKit

/// The parts of a multipart body (RFC 2046 §5.1.1), as ranges of its bytes.
///
/// Lines end with CRLF or, from some clients, with LF.
package struct MultipartParts: Sendable {
    /// One part.
    package struct Part: Sendable {
        /// The header fields.
        package let headers: HTTPHeaders
        /// The bytes after the empty line.
        package let content: Data

        /// The names in `Content-Disposition`; more than one if receivers can interpret the field differently.
        package var names: [String] {
            headers["Content-Disposition"].map { HeaderParameters($0).values(of: "name") } ?? []
        }
    }

    /// The meaning of a range of bytes.
    private enum Piece: Sendable {
        /// A delimiter, the name of a field, or a line break.
        case syntax
        /// The preamble, the epilogue, or an invalid line of a header section.
        case text
        /// The value of the field with a name.
        case value(of: String)
        /// The content of the part with an index.
        case content(Int)
    }

    /// The boundary, without the leading hyphens.
    package let boundary: String
    /// The parts, in order.
    package private(set) var parts: [Part] = []
    private let data: Data
    private var pieces: [(piece: Piece, range: Range<Data.Index>)] = []

    /// Reads a body; `nil` if it has no boundary or no part.
    ///
    /// - Parameter contentType: The `Content-Type` with the boundary. Without a boundary, or if the body doesn't
    ///   contain it, the first line is used as the boundary.
    package init?(_ data: Data, contentType: String?) {
        let declared = contentType.flatMap { HeaderParameters($0).values(of: "boundary").first }
        for boundary in [declared, Self.boundary(in: data)] {
            guard let boundary, !boundary.isEmpty else { continue }
            self.init(data, boundary: boundary)
            if !parts.isEmpty { return }
        }
        return nil
    }

    private init(_ data: Data, boundary: String) {
        self.data = data
        self.boundary = boundary
        var start = data.startIndex
        var isPart = false
        while true {
            let delimiter = delimiter(from: start)
            let end = delimiter?.range.lowerBound ?? data.endIndex
            if isPart { addPart(start..<end) } else { add(.text, range: start..<end) }
            guard let delimiter else { return }
            add(.syntax, range: delimiter.range)
            // Parts after the last delimiter are also read, because they can contain secrets.
            isPart = !delimiter.isLast
            start = delimiter.range.upperBound
        }
    }

    /// The body with its parts, field values and other texts replaced.
    ///
    /// - Parameters:
    ///   - content: Returns the new content of a part.
    ///   - value: Returns the new value of a header field of a part.
    ///   - text: Returns the new preamble or epilogue, or an invalid line of a header section.
    package func replacing(
        content: (Part) -> Data,
        value: (_ name: String, _ value: String) -> String,
        text: (Data) -> Data
    ) -> Data {
        var result = Data()
        for (piece, range) in pieces {
            switch piece {
            case .syntax: result += data[range]
            case .text: result += text(Data(data[range]))
            case .content(let index): result += content(parts[index])
            case .value(let name):
                let old = String(decoding: data[range], as: UTF8.self)
                let new = value(name, old)
                result += new == old ? data[range] : Data(new.utf8)
            }
        }
        return result
    }

    /// The `Content-Type` with another boundary.
    package static func replacingBoundary(of contentType: String, with boundary: String) -> String {
        guard let old = HeaderParameters(contentType).parameters.first(where: { $0.name == "boundary" }) else {
            return contentType
        }
        return contentType.replacingCharacters(in: old.range, with: boundary)
    }
}

// MARK: - Reading

extension MultipartParts {
    /// The next line that consists of the boundary, with the line break before it.
    private func delimiter(from start: Data.Index) -> (range: Range<Data.Index>, isLast: Bool)? {
        let text = Data("--\(boundary)".utf8)
        var place = start
        while let found = data.range(of: text, in: place..<data.endIndex) {
            place = found.upperBound
            var first = found.lowerBound
            guard first == data.startIndex || data[first - 1] == UInt8(ascii: "\n") else { continue }
            var end = found.upperBound
            let isLast = data[end...].starts(with: "--".utf8)
            if isLast { end += 2 }
            end = data[end...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? data.endIndex
            if end < data.endIndex {
                end += data[end] == UInt8(ascii: "\r") ? 1 : 0
                guard end < data.endIndex, data[end] == UInt8(ascii: "\n") else { continue }
                end += 1
            }
            // The preceding line break isn't part of the content, unless it ends the preceding delimiter.
            if first > start { first -= 1 }
            if first > start, data[first] == UInt8(ascii: "\n"), data[first - 1] == UInt8(ascii: "\r") { first -= 1 }
            return (first..<end, isLast)
        }
        return nil
    }

    private mutating func add(_ piece: Piece, range: Range<Data.Index>) {
        if !range.isEmpty { pieces.append((piece, range)) }
    }

    /// Reads the header section and the content of a part. Without an empty line, there is no content.
    private mutating func addPart(_ range: Range<Data.Index>) {
        var headers = HTTPHeaders()
        var start = range.lowerBound
        var content = range.upperBound..<range.upperBound
        while start < range.upperBound {
            let line = line(from: start, to: range.upperBound)
            if line.text.isEmpty {
                add(.syntax, range: start..<line.end)
                content = line.end..<range.upperBound
                break
            }
            if let field = field(in: line.text) {
                add(.syntax, range: start..<field.value.lowerBound)
                add(.value(of: field.name), range: field.value)
                let name = HTTPHeaderName(rawValue: field.name)
                headers.add(name, value: String(decoding: data[field.value], as: UTF8.self))
            } else {
                add(.text, range: line.text)
            }
            add(.syntax, range: line.text.upperBound..<line.end)
            start = line.end
        }
        add(.content(parts.count), range: content)
        parts.append(Part(headers: headers, content: Data(data[content])))
    }

    /// A line without its line break, with its continuation lines (RFC 5322 §2.2.3).
    private func line(from start: Data.Index, to limit: Data.Index) -> (text: Range<Data.Index>, end: Data.Index) {
        var place = start
        while true {
            guard let lineFeed = data[place..<limit].firstIndex(of: UInt8(ascii: "\n")) else {
                return (start..<limit, limit)
            }
            let hasReturn = lineFeed > start && data[lineFeed - 1] == UInt8(ascii: "\r")
            let text = start..<(hasReturn ? lineFeed - 1 : lineFeed)
            place = lineFeed + 1
            let isContinued = !text.isEmpty && place < limit && (data[place] == 0x20 || data[place] == 0x09)
            if !isContinued { return (text, place) }
        }
    }

    /// The name and the value of a header field; `nil` if the line isn't a field.
    private func field(in line: Range<Data.Index>) -> (name: String, value: Range<Data.Index>)? {
        guard let colon = data[line].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(decoding: data[line.lowerBound..<colon], as: UTF8.self).trimmingCharacters(in: .whitespaces)
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.isSeparator($0) }) else {
            return nil
        }
        let value = data[(colon + 1)..<line.upperBound].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? line.upperBound
        return (name, value..<line.upperBound)
    }

    /// Whether a byte can't be part of a field's name, and starts JSON or markup.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        "\"{}[]<>()=;,".utf8.contains(byte)
    }

    private static func boundary(in data: Data) -> String? {
        guard data.starts(with: "--".utf8), let end = data.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return String(data: data[data.startIndex..<end].dropFirst(2), encoding: .utf8)?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

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
    /// An array, because code that searches `Data` is five times as long.
    private let bytes: [UInt8]
    private var pieces: [(piece: Piece, range: Range<Int>)] = []

    /// Reads a body; `nil` if it has no boundary or no part.
    ///
    /// - Parameter contentType: The `Content-Type` with the boundary. Without a boundary, or if the body doesn't
    ///   contain it, the first line is used as the boundary.
    package init?(_ data: Data, contentType: String?) {
        let declared = contentType.flatMap { HeaderParameters($0).values(of: "boundary").first }
        let bytes = Array(data)
        for boundary in [declared, Self.boundary(in: bytes)] {
            guard let boundary, !boundary.isEmpty else { continue }
            self.init(bytes, boundary: boundary)
            if !parts.isEmpty { return }
        }
        return nil
    }

    private init(_ bytes: [UInt8], boundary: String) {
        self.bytes = bytes
        self.boundary = boundary
        var start = 0
        var isPart = false
        while true {
            let delimiter = delimiter(from: start)
            let end = delimiter?.range.lowerBound ?? bytes.count
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
        var result: [UInt8] = []
        for (piece, range) in pieces {
            switch piece {
            case .syntax: result += bytes[range]
            case .text: result += text(Data(bytes[range]))
            case .content(let index): result += content(parts[index])
            case .value(let name):
                let old = String(decoding: bytes[range], as: UTF8.self)
                let new = value(name, old)
                result += new == old ? bytes[range] : Array(new.utf8)[...]
            }
        }
        return Data(result)
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
    private func delimiter(from start: Int) -> (range: Range<Int>, isLast: Bool)? {
        let text = Array("--\(boundary)".utf8)
        var first = start
        while true {
            if bytes[first...].starts(with: text), let (end, isLast) = endOfDelimiter(after: first + text.count) {
                // The preceding line break isn't part of the content, unless it ends the preceding delimiter.
                if first > start { first -= 1 }
                if first > start, bytes[first - 1] == UInt8(ascii: "\r") { first -= 1 }
                return (first..<end, isLast)
            }
            guard let lineFeed = bytes[first...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            first = lineFeed + 1
        }
    }

    /// The index after the line of a delimiter; `nil` if anything but white space follows the boundary.
    private func endOfDelimiter(after boundary: Int) -> (end: Int, isLast: Bool)? {
        let isLast = bytes[boundary...].starts(with: Self.hyphens)
        var end = bytes[(isLast ? boundary + 2 : boundary)...].firstIndex { !$0.isSpaceOrTab } ?? bytes.count
        if end < bytes.count {
            end += bytes[end] == UInt8(ascii: "\r") ? 1 : 0
            guard end < bytes.count, bytes[end] == UInt8(ascii: "\n") else { return nil }
            end += 1
        }
        return (end, isLast)
    }

    private mutating func add(_ piece: Piece, range: Range<Int>) {
        if !range.isEmpty { pieces.append((piece, range)) }
    }

    /// Reads the header section and the content of a part. Without an empty line, there is no content.
    private mutating func addPart(_ range: Range<Int>) {
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
                headers.add(name, value: String(decoding: bytes[field.value], as: UTF8.self))
            } else {
                add(.text, range: line.text)
            }
            add(.syntax, range: line.text.upperBound..<line.end)
            start = line.end
        }
        add(.content(parts.count), range: content)
        parts.append(Part(headers: headers, content: Data(bytes[content])))
    }

    /// A line without its line break, with its continuation lines (RFC 5322 §2.2.3).
    private func line(from start: Int, to limit: Int) -> (text: Range<Int>, end: Int) {
        var place = start
        while true {
            guard let lineFeed = bytes[place..<limit].firstIndex(of: UInt8(ascii: "\n")) else {
                return (start..<limit, limit)
            }
            let hasReturn = lineFeed > start && bytes[lineFeed - 1] == UInt8(ascii: "\r")
            let text = start..<(hasReturn ? lineFeed - 1 : lineFeed)
            place = lineFeed + 1
            let isContinued = !text.isEmpty && place < limit && bytes[place].isSpaceOrTab
            if !isContinued { return (text, place) }
        }
    }

    /// The name and the value of a header field; `nil` if the line isn't a field.
    private func field(in line: Range<Int>) -> (name: String, value: Range<Int>)? {
        guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(decoding: bytes[line.lowerBound..<colon], as: UTF8.self).trimmingCharacters(in: .whitespaces)
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.isSeparator($0) }) else {
            return nil
        }
        let value = bytes[(colon + 1)..<line.upperBound].firstIndex { !$0.isSpaceOrTab } ?? line.upperBound
        return (name, value..<line.upperBound)
    }

    /// Whether a byte can't be part of a field's name, and starts JSON or markup.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        "\"{}[]<>()=;,".utf8.contains(byte)
    }

    private static func boundary(in bytes: [UInt8]) -> String? {
        guard bytes.starts(with: hyphens), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return String(bytes: bytes[2..<end], encoding: .utf8)?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static let hyphens = Array("--".utf8)
}

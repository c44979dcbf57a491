// SPDX-License-Identifier: MIT
import TargetKit

/// A body in the log, which is redacted text up to a limit, or a one-line summary of other bodies.
struct LogBody {
    let redaction: Redaction
    /// The maximum number of bytes.
    let limit: Int

    enum Text {
        /// The whole text.
        case whole(String)
        /// The beginning of the text.
        case cut(String)
        /// A summary of bytes that aren't text.
        case summary(String)
    }

    /// The text of a body; `nil` if the body is empty.
    func text(of data: Data, contentType: String?) -> Text? {
        guard !data.isEmpty else { return nil }
        let type = contentType?.mediaType
        let summary = Text.summary("<\(data.count) bytes" + (type.map { ", \($0.inOneLine)" } ?? "") + ">")
        let format = BodyFormat(of: data, contentType: contentType)
        // The parts may be files, and the values of fields are on lines without their names.
        if format == .multipart { return summary }
        guard let (bytes, isCut) = format == .form ? form(data) : json(data) else { return summary }
        guard let text = Self.readableText(bytes, isCut: isCut) else { return summary }
        return isCut ? .cut(text) : .whole(text)
    }

    /// The body's lines. If the body is truncated, the last line contains its length.
    func lines(of data: Data, contentType: String?) -> [String] {
        switch text(of: data, contentType: contentType) {
        case nil: []
        case .summary(let text): [text]
        case .whole(let text): Self.lines(of: text.withReadableEscapes)
        case .cut(let text): Self.lines(of: text.withReadableEscapes + "… <\(data.count) bytes>")
        }
    }

    private static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { line in
                line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).inOneLine }.joined(
                    separator: "\t"
                )
            }
    }

    private func json(_ data: Data) -> (bytes: [UInt8], isCut: Bool)? {
        guard !redaction.isNone else { return (Array(data.prefix(limit)), data.count > limit) }
        return TextRedactor.redacted(data, by: redaction, limit: limit)
    }

    private func form(_ data: Data) -> (bytes: [UInt8], isCut: Bool)? {
        guard !redaction.isNone else { return (Array(data.prefix(limit)), data.count > limit) }
        guard let text = String(bytes: data, encoding: .utf8) else { return nil }
        let form = redaction.form(text, limit: limit)
        return (Array(form.bytes.prefix(limit)), form.isCut || form.bytes.count > limit)
    }

    /// The text of UTF-8 bytes without control characters, which a terminal could interpret.
    private static func readableText(_ bytes: [UInt8], isCut: Bool) -> String? {
        guard !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D) || $0 == 0x7F }) else {
            return nil
        }
        // The limit may be within a character, after up to three of its bytes.
        for missing in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(bytes: bytes.dropLast(missing), encoding: .utf8) { return text }
        }
        return nil
    }
}

/// A curl command for a POSIX shell that sends the same request, with secrets redacted.
///
/// A body that is binary, longer than the limit, or read while it is sent is replaced with `@body`, which is the name
/// of a file.
struct CurlCommand {
    let request: URLRequest
    let body: LogBody
    /// Whether the body isn't in the `URLRequest`.
    let isBodyElsewhere: Bool

    init(_ request: URLRequest, body: LogBody, context: RequestContext) {
        self.request = request
        self.body = body
        isBodyElsewhere = context.bodyOutsideRequest != nil
    }

    var text: String {
        let url = request.url?.absoluteString ?? ""
        let method = request.httpMethod ?? "GET"
        var words = ["curl"]
        // curl waits for a body after `-X HEAD`, and interprets brackets and braces in a URL as patterns.
        if method == "HEAD" { words.append("--head") } else if method != "GET" { words += ["-X", Self.quoted(method)] }
        if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        words.append(Self.quoted(body.redaction.url(url).inOneLine))
        let fields = Array(request.allHTTPHeaderFields ?? [:])
        for (name, value) in fields.ordered(by: { $0.key < $1.key }) {
            let value = body.redaction.header(value, name: name).inOneLine
            words += ["-H", Self.quoted(value.isEmpty ? name + ";" : "\(name): \(value)")]
        }
        words += bodyWords(contentType: request.value(forHTTPHeaderField: "Content-Type"))
        return words.joined(separator: " ")
    }

    private func bodyWords(contentType: String?) -> [String] {
        // curl adds a default content type to a body without one.
        let type = contentType == nil ? ["-H", Self.quoted("Content-Type:")] : []
        guard let data = request.httpBody else {
            return isBodyElsewhere ? ["--data-binary", "@body"] : []
        }
        return switch body.text(of: data, contentType: contentType) {
        case nil: []
        case .whole(let text) where text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }).allSatisfy(\.isPlain):
            type + ["--data-raw", Self.quoted(text)]
        case .whole, .cut, .summary: type + ["--data-binary", "@body"]
        }
    }

    /// Quotes a word for a POSIX shell, in which only the quote is special between single quotes.
    static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}

extension String {
    /// The text, with the escapes of JSON such as `\u7b7e` (RFC 8259 §7) replaced by the characters if it starts like JSON
    /// or server-sent events. Characters of ASCII and those that aren't visible remain escaped.
    fileprivate var withReadableEscapes: String {
        guard contains(#"\u"#), let first = utf8.first(where: { $0 > 0x20 }),
            "{[\"".utf8.contains(first) || hasPrefix("data:")
        else { return self }
        let bytes = Array(utf8)
        var copy: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "\\") {
                copy.append(bytes[index])
                index += 1
                continue
            }
            let length = Self.scalar(ofEscapeAt: index, in: bytes).map { scalar in
                copy += String(scalar).utf8
                return scalar.value > 0xFFFF ? 12 : 6
            }
            if length == nil { copy += bytes[index...].prefix(2) }
            index += length ?? 2
        }
        return String(decoding: copy, as: UTF8.self)
    }

    /// The visible scalar of an escape, or of two that are a surrogate pair; `nil` if there is none.
    private static func scalar(ofEscapeAt index: Int, in bytes: [UInt8]) -> Unicode.Scalar? {
        guard var code = codeUnit(at: index, in: bytes) else { return nil }
        if code & 0xFC00 == 0xD800, let low = codeUnit(at: index + 6, in: bytes), low & 0xFC00 == 0xDC00 {
            code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(code), !scalar.isASCII else { return nil }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return nil
        default: return scalar
        }
    }

    private static func codeUnit(at index: Int, in bytes: [UInt8]) -> UInt32? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let digits = bytes[(index + 2)..<(index + 6)].compactMap(\.hexadecimalDigit)
        return digits.count == 4 ? digits.reduce(0) { $0 << 4 | UInt32($1) } : nil
    }
}

extension Substring {
    /// Whether the text has no control characters except tabs, because a terminal could interpret them.
    fileprivate var isPlain: Bool {
        split(separator: "\t").allSatisfy { $0 == String($0).inOneLine }
    }
}

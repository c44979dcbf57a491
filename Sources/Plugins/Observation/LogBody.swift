// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A body as it is logged: text with its secrets left out, up to a limit; anything else in one line about it.
struct LogBody {
    let redaction: LogRedaction
    /// Bytes.
    let limit: Int

    enum Text {
        /// The text, all of it.
        case whole(String)
        /// The text's beginning.
        case cut(String)
        /// What is known of bytes that are no text.
        case summary(String)
    }

    /// The body, `nil` when it is empty.
    func text(of data: Data, contentType: String?) -> Text? {
        guard !data.isEmpty else { return nil }
        let type = contentType.map { $0.prefix { $0 != ";" }.lowercased().trimmingCharacters(in: .whitespaces) }
        let summary = Text.summary("<\(data.count) bytes" + (type.map { ", \($0)" } ?? "") + ">")
        // Its parts may be files, and the secrets of its fields lie in lines that do not name them.
        if type?.hasPrefix("multipart/") == true { return summary }
        guard let (bytes, isCut) = isForm(data, type) ? form(data) : json(data) else { return summary }
        guard let text = Self.readableText(bytes, isCut: isCut) else { return summary }
        return isCut ? .cut(text) : .whole(text)
    }

    /// The body's lines, the last one saying what is missing.
    func lines(of data: Data, contentType: String?) -> [Substring] {
        switch text(of: data, contentType: contentType) {
        case nil: []
        case .summary(let text): [text[...]]
        case .whole(let text): text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        case .cut(let text):
            (text + "… <\(data.count) bytes>").split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        }
    }

    private func json(_ data: Data) -> (bytes: [UInt8], isCut: Bool)? {
        guard !redaction.isNone else { return (Array(data.prefix(limit)), data.count > limit) }
        return JSONRedactor.redacted(data, by: redaction, limit: limit)
    }

    private func form(_ data: Data) -> (bytes: [UInt8], isCut: Bool)? {
        guard !redaction.isNone else { return (Array(data.prefix(limit)), data.count > limit) }
        guard let text = String(bytes: data, encoding: .utf8) else { return nil }
        let form = redaction.form(text, limit: limit)
        return (Array(form.text.utf8.prefix(limit)), form.isCut || form.text.utf8.count > limit)
    }

    /// What the type says, unless the body starts as JSON does; without a type, `a=b` with nothing in it that a form
    /// escapes.
    private func isForm(_ data: Data, _ type: String?) -> Bool {
        let first = data.first { $0 > 0x20 }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return false }
        if type == "application/x-www-form-urlencoded" { return true }
        guard type == nil || type == "text/plain" else { return false }
        return data.contains(UInt8(ascii: "="))
            && !data.contains { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "<") }
    }

    /// The text of bytes that are UTF-8 and hold nothing that a terminal would take for a command.
    private static func readableText(_ bytes: [UInt8], isCut: Bool) -> String? {
        guard !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D) || $0 == 0x7F }) else {
            return nil
        }
        // The limit may lie inside a character: up to three of its bytes are there.
        for missing in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(bytes: bytes.dropLast(missing), encoding: .utf8) { return text }
        }
        return nil
    }
}

/// A request as a command for a POSIX shell that sends the same with curl, secrets left out.
///
/// A body that is binary, longer than the limit, or read as it is sent, stands as `@body`: a file to be put in by hand.
struct CurlCommand {
    let request: URLRequest
    let body: LogBody
    /// Whether the request has a body that its `URLRequest` does not contain.
    let isBodyElsewhere: Bool

    init(_ request: URLRequest, _ body: LogBody, _ context: RequestContext) {
        self.request = request
        self.body = body
        isBodyElsewhere = context.isBodyReadAsItIsSent
    }

    var text: String {
        let url = request.url?.absoluteString ?? ""
        let method = request.httpMethod ?? "GET"
        var words = ["curl"]
        // curl would wait for the body of a HEAD that is only named, and takes brackets and braces of a URL for
        // patterns.
        if method == "HEAD" { words.append("--head") } else if method != "GET" { words += ["-X", Self.quoted(method)] }
        if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        words.append(Self.quoted(body.redaction.url(url)))
        let fields = request.allHTTPHeaderFields ?? [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            let value = body.redaction.header(value, name: name)
            words += ["-H", Self.quoted(value.isEmpty ? name + ";" : "\(name): \(value)")]
        }
        words += bodyWords(contentType: request.value(forHTTPHeaderField: "Content-Type"))
        return words.joined(separator: " ")
    }

    private func bodyWords(contentType: String?) -> [String] {
        // curl names a type of its own for a body whose type is not said.
        let type = contentType == nil ? ["-H", Self.quoted("Content-Type:")] : []
        guard let data = request.httpBody else {
            return isBodyElsewhere ? ["--data-binary", "@body"] : []
        }
        return switch body.text(of: data, contentType: contentType) {
        case nil: []
        case .whole(let text): type + ["--data-raw", Self.quoted(text)]
        case .cut, .summary: type + ["--data-binary", "@body"]
        }
    }

    /// One word for a POSIX shell: nothing is special between single quotes but the quote itself.
    static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}

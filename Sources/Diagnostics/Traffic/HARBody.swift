// SPDX-License-Identifier: MIT
import TargetKit

/// A body in an archive: redacted text, or the bytes of media in Base64, up to a limit.
struct HARBody {
    /// The text; `nil` if the body is empty or omitted.
    private(set) var text: String?
    /// `base64` if ``text`` is in Base64.
    private(set) var encoding: String?
    /// A description of the missing bytes.
    private(set) var comment: String?

    private let data: Data
    private let type: String
    private let content: HARContent

    init(_ data: Data, contentType: String?, of content: HARContent, isRequest: Bool) {
        self.data = data
        self.content = content
        type = contentType?.mediaType ?? ""
        guard !data.isEmpty else { return }
        if content.bodyLimit <= 0 {
            comment = "The body, \(data.count) bytes, isn't recorded."
        } else if let (redacted, isCut) = redactedText(contentType: contentType) {
            text = redacted
            if isCut { comment = "The first \(content.bodyLimit) of \(data.count) bytes." }
        } else if !isRequest, isMedia || content.redaction.isNone {
            // A truncated Base64 text must encode whole groups of three bytes.
            text = data.prefix(data.count > limit ? limit - limit % 3 : limit).base64EncodedString()
            encoding = "base64"
            if data.count > limit { comment = "The first \(limit - limit % 3) of \(data.count) bytes." }
        } else {
            comment = "The body, \(data.count) bytes, isn't text, so secrets in it can't be redacted."
        }
    }

    private var limit: Int { content.bodyLimit }

    /// Whether the bytes of this media type contain no credentials.
    private var isMedia: Bool {
        ["image/", "audio/", "video/", "font/"].contains(where: type.hasPrefix) || type == "application/pdf"
    }

    /// The text up to the limit, and whether it is truncated; `nil` if the body isn't text.
    private func redactedText(contentType: String?) -> (text: String, isCut: Bool)? {
        // An SVG image is text.
        if isMedia, !type.hasSuffix("xml") { return nil }
        if data.count <= limit * 8 {
            let redacted = content.redaction.body(data, contentType: contentType)
            guard let text = Self.text(redacted) ?? decoded(contentType: contentType) else { return nil }
            return text.cut(to: limit)
        }
        let format = BodyFormat(of: data, contentType: contentType)
        // Parts and columns can be redacted only in a complete body.
        guard format != .multipart, type != "text/csv" else { return nil }
        if content.redaction.isNone { return Self.text(data.prefix(limit + 4), isCut: true).map { $0.cut(to: limit) } }
        if format == .form, let form = String(data: data, encoding: .utf8) {
            return Self.text(Data(content.redaction.form(form, limit: limit).bytes)).map {
                ($0.cut(to: limit).text, true)
            }
        }
        let (bytes, isCut) = TextRedactor.redacted(data, by: content.redaction, limit: limit)
        return Self.text(Data(bytes), isCut: isCut).map { ($0, isCut) }
    }

    /// The text of bytes in a charset other than UTF-8; `nil` if the type isn't a text type.
    private func decoded(contentType: String?) -> String? {
        guard type.hasPrefix("text/") || contentType?.lowercased().contains("charset") == true else { return nil }
        let headers = HTTPHeaders([HTTPHeaders.Field(name: .contentType, value: contentType ?? "")])
        guard let text = try? Response(statusCode: 200, data: data, headers: headers).string() else { return nil }
        return content.redaction.isNone ? text : TextRedactor.redacted(text, by: content.redaction)
    }

    /// The text of UTF-8 bytes without control characters. Truncated bytes may end within a character.
    private static func text(_ bytes: Data, isCut: Bool = false) -> String? {
        let isBinary = bytes.contains {
            ($0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0C && $0 != 0x0D) || $0 == 0x7F
        }
        if isBinary { return nil }
        for missing in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(data: bytes.dropLast(missing), encoding: .utf8) { return text }
        }
        return nil
    }
}

extension String {
    /// The characters that fit into a number of bytes, and whether the string has more.
    fileprivate func cut(to limit: Int) -> (text: String, isCut: Bool) {
        guard utf8.count > limit else { return (self, false) }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return (String(self[..<end]), true)
    }
}

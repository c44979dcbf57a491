// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// The body of a response in an HTTP Archive (HAR 1.2, `content`).
struct HARContent: Sendable {
    private let text: String?
    private let encoding: String
    private let mimeType: String?
    /// The number of decoded bytes; `nil` if unknown.
    private let size: Int?
    /// The reason why the body is missing or truncated; `nil` if it is complete.
    private let comment: String?
    /// Whether a response to this request never has a body.
    private let isEmpty: Bool

    init(_ content: JSONValue, of response: JSONValue, isOwn: Bool, isEmpty: Bool) {
        text = content["text"].string
        encoding = content["encoding"].string ?? ""
        mimeType = content["mimeType"].string
        size = content["size"].int
        self.isEmpty = isEmpty
        // Others write comments about complete bodies, too.
        let note = content["comment"].string ?? ""
        comment = note.isEmpty || (text != nil && !isOwn) ? nil : note
    }

    /// Whether the archive contains bytes of the body.
    var hasText: Bool { text?.isEmpty == false }

    /// Decodes the body.
    func body(status: Int, headers: HTTPHeaders) throws(HARExchange.Problem) -> Data {
        if isEmpty || status == 204 || status == 304 { return Data() }
        // Browsers don't keep the body of a redirect, and nobody reads it.
        if !hasText, (300..<400).contains(status), headers[.location] != nil { return Data() }
        if let comment {
            throw HARExchange.Problem(
                "the body isn't complete in the archive (\(comment.excerpt(200).inOneLine)); \(Self.remedy)"
            )
        }
        guard let text else {
            guard let size, size > 0 else { return Data() }
            throw HARExchange.Problem(
                "response.content.text is missing, although \(size) bytes were received; \(Self.remedy)"
            )
        }
        guard !encoding.isEmpty else { return Data(text.utf8) }
        let body = ReadableBody.decoded(
            try Self.decoded(text, encoding: encoding, field: "response.content"),
            headers: headers
        )
        if headers["Content-Encoding"]?.lowercased() == "gzip", body.starts(with: [0x1F, 0x8B]) {
            throw HARExchange.Problem("response.content.text is still compressed; save the archive with decoded bodies")
        }
        return body
    }

    private static let remedy = "save the archive with complete bodies, or delete the entry"

    static func decoded(_ text: String, encoding: String, field: String) throws(HARExchange.Problem) -> Data {
        guard encoding.lowercased() == "base64" else {
            throw HARExchange.Problem(
                "\(field).encoding is \"\(encoding.excerpt(20).inOneLine)\", but only base64 is supported; save the archive again"
            )
        }
        guard let data = Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
            throw HARExchange.Problem("\(field).text isn't valid Base64; correct it, or delete the entry")
        }
        return data
    }

    /// Adapts the fields that describe the transferred body to the recorded one, which is decoded. Text is in UTF-8
    /// (HAR 1.2, `content`).
    func adapt(_ headers: inout HTTPHeaders, to body: Data) {
        headers["Content-Encoding"] = nil
        headers["Transfer-Encoding"] = nil
        if headers[.contentLength] != nil, !isEmpty { headers[.contentLength] = "\(body.count)" }
        if headers[.contentType] == nil, let mimeType, mimeType.contains("/") { headers[.contentType] = mimeType }
        guard encoding.isEmpty, let type = headers[.contentType] else { return }
        let charset = HeaderParameters(type).parameters.first { $0.name == "charset" }
        if let charset, !charset.value.lowercased().hasPrefix("utf-8") {
            headers[.contentType] = type.replacingCharacters(in: charset.range, with: "utf-8")
        }
    }
}

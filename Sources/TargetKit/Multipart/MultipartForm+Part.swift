// SPDX-License-Identifier: MIT
import Foundation

extension MultipartForm {
    /// One field of a form: a name, the bytes, and what is said about them.
    ///
    /// The name and the file name are sent as UTF-8 in `Content-Disposition`, escaped as HTML's rules for forms say:
    /// `"` as `%22`, CR as `%0D`, LF as `%0A`; in a name a lone CR or LF counts as CR LF. Nothing else is escaped, and
    /// `filename*` is never sent (RFC 7578 §4.2).
    ///
    /// Two parts are equal when they send the same: bytes are compared, a file by its URL, a stream by `==` if it is
    /// `Hashable`, by its identity if it is an object; any other stream equals only copies of its own part.
    public struct Part: Sendable, Hashable {
        /// The field's name.
        public let name: String
        /// The file name that the server is told; `nil`: the part is no file.
        public let fileName: String?
        /// The part's `Content-Type`; `nil`: none is sent, which means `text/plain` (RFC 7578 §4.4).
        public let mimeType: String?
        /// Further header fields of the part. A `Content-Type` here stands in for ``mimeType``.
        public let headers: HTTPHeaders

        let content: MultipartContent
    }
}

extension MultipartForm.Part {
    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: the bytes, sent as they are.
    ///   - name: the field's name.
    ///   - fileName: the file name that the server is told; default: none, the part is no file.
    ///   - mimeType: the part's `Content-Type`; default: by the file name's extension, `application/octet-stream` for
    ///     one that is not known; none without a file name.
    ///   - headers: further header fields of the part; default: none.
    public static func data(
        _ data: Data,
        name: String,
        fileName: String? = nil,
        mimeType: String? = nil,
        headers: HTTPHeaders = [:]
    ) -> Self {
        let mimeType = mimeType ?? fileName.map { MIMEType.forFile(named: $0) }
        return Self(name: name, fileName: fileName, mimeType: mimeType, headers: headers, content: .data(data))
    }

    /// A file, read as it is sent.
    ///
    /// - Parameters:
    ///   - url: where the file lies. It is looked at when the body is made, and again for each time it is sent.
    ///   - name: the field's name.
    ///   - fileName: the file name that the server is told; default: the URL's last path component.
    ///   - mimeType: the part's `Content-Type`; default: by the extension of the file, else of the file name, else
    ///     `application/octet-stream`.
    ///   - headers: further header fields of the part; default: none.
    public static func file(
        _ url: URL,
        name: String,
        fileName: String? = nil,
        mimeType: String? = nil,
        headers: HTTPHeaders = [:]
    ) -> Self {
        let fileName = fileName ?? url.lastPathComponent
        let mimeType = mimeType ?? MIMEType.forFile(named: url.lastPathComponent, fileName)
        return Self(name: name, fileName: fileName, mimeType: mimeType, headers: headers, content: .file(url))
    }

    /// Text as UTF-8, its line ends as they are.
    ///
    /// No `Content-Type` is sent by default, as browsers do: it then means `text/plain` (RFC 7578 §4.4), and many
    /// servers take a part that names a type for a file.
    public static func text(
        _ text: String,
        name: String,
        mimeType: String? = nil,
        headers: HTTPHeaders = [:]
    ) -> Self {
        data(Data(text.utf8), name: name, mimeType: mimeType, headers: headers)
    }

    /// A value as JSON.
    ///
    /// The value is encoded here, once; a failure is kept, and thrown as ``MultipartError`` when the body is made.
    ///
    /// - Parameters:
    ///   - value: what is encoded.
    ///   - name: the field's name.
    ///   - fileName: the file name that the server is told; default: none.
    ///   - mimeType: the part's `Content-Type`; default: `application/json`.
    ///   - encoder: default: one with sorted keys, so that equal values give equal parts.
    ///   - headers: further header fields of the part; default: none.
    public static func json(
        _ value: some Encodable,
        name: String,
        fileName: String? = nil,
        mimeType: String = "application/json",
        encoder: JSONEncoder? = nil,
        headers: HTTPHeaders = [:]
    ) -> Self {
        let content = MultipartContent(json: value, encoder: encoder)
        return Self(name: name, fileName: fileName, mimeType: mimeType, headers: headers, content: content)
    }

    /// A stream that can be opened again, read as it is sent.
    ///
    /// - Parameters:
    ///   - source: the bytes. Its length must be known when the body is made, and it must give exactly as many.
    ///   - name: the field's name.
    ///   - fileName: the file name that the server is told; default: none, the part is no file.
    ///   - mimeType: the part's `Content-Type`; default: by the file name's extension, `application/octet-stream` for
    ///     one that is not known; none without a file name.
    ///   - headers: further header fields of the part; default: none.
    public static func stream(
        _ source: any BodySource,
        name: String,
        fileName: String? = nil,
        mimeType: String? = nil,
        headers: HTTPHeaders = [:]
    ) -> Self {
        let mimeType = mimeType ?? fileName.map { MIMEType.forFile(named: $0) }
        let content = MultipartContent.stream(MultipartContent.Stream(source))
        return Self(name: name, fileName: fileName, mimeType: mimeType, headers: headers, content: content)
    }
}

extension MultipartForm.Part: CustomStringConvertible, CustomReflectable {
    /// The name and type, without the value.
    public var description: String { "\(name.debugDescription), \(mimeType ?? "text/plain")" }

    /// Reflects only the description, so `dump` omits the bytes.
    public var customMirror: Mirror { Mirror(describing: self) }
}

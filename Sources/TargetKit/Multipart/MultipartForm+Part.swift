// SPDX-License-Identifier: MIT

extension MultipartForm {
    /// One field of a form: a name, a content, and header fields.
    ///
    /// The name and the file name are sent as UTF-8 in `Content-Disposition`, escaped as the HTML standard specifies:
    /// `"` as `%22`, CR as `%0D`, LF as `%0A`. In a name, a lone CR or LF is first replaced by CR LF. Nothing else is
    /// escaped, and `filename*` is never sent (RFC 7578 §4.2).
    ///
    /// Two parts are equal if they send the same content: bytes are compared by value, files by URL. A part with a
    /// stream is equal only to its copies.
    public struct Part: Sendable, Hashable {
        /// The field's name.
        let name: String
        /// The file name; `nil` if the part isn't a file.
        let fileName: String?
        /// The part's `Content-Type`; `nil` sends none, which means `text/plain` (RFC 7578 §4.4).
        let mimeType: String?
        /// Additional header fields. A `Content-Type` overrides ``mimeType``.
        let headers: HTTPHeaders

        let content: MultipartContent
    }
}

extension MultipartForm.Part {
    /// A part with bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - name: The field's name.
    ///   - fileName: The file name; default: none.
    ///   - mimeType: The part's `Content-Type`; default: determined by the file name's extension, or
    ///     `application/octet-stream` if it is unknown; none without a file name.
    ///   - headers: Additional header fields; default: none.
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

    /// A part with the contents of a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file. The file is checked when the body is created and each time it is sent.
    ///   - name: The field's name.
    ///   - fileName: The file name; default: the URL's last path component.
    ///   - mimeType: The part's `Content-Type`; default: determined by the extension of the file or the file name;
    ///     otherwise `application/octet-stream`.
    ///   - headers: Additional header fields; default: none.
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

    /// A part with UTF-8 text. Line endings aren't changed.
    ///
    /// As in browsers, no `Content-Type` is sent by default, which means `text/plain` (RFC 7578 §4.4). Many servers
    /// treat a part with a `Content-Type` as a file.
    public static func text(
        _ text: String,
        name: String,
        mimeType: String? = nil,
        headers: HTTPHeaders = [:]
    ) -> Self {
        data(Data(text.utf8), name: name, mimeType: mimeType, headers: headers)
    }

    /// A part with a value encoded as JSON.
    ///
    /// The value is encoded immediately. A failure is thrown as ``MultipartError`` when the body is created.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The field's name.
    ///   - fileName: The file name; default: none.
    ///   - mimeType: The part's `Content-Type`; default: `application/json`.
    ///   - encoder: The encoder; default: sorts keys, so that equal values give equal parts.
    ///   - headers: Additional header fields; default: none.
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

    /// A part with a stream that can be opened again and is read while it is sent.
    ///
    /// - Parameters:
    ///   - source: The stream. Its length must be known when the body is created, and it must provide exactly that many
    ///     bytes.
    ///   - name: The field's name.
    ///   - fileName: The file name; default: none.
    ///   - mimeType: The part's `Content-Type`; default: determined by the file name's extension, or
    ///     `application/octet-stream` if it is unknown; none without a file name.
    ///   - headers: Additional header fields; default: none.
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

extension MultipartForm.Part: RedactedDescription {
    /// The name and type, without the value.
    var redactedDescription: String { "\(name.debugDescription), \(mimeType ?? "text/plain")" }
}

/// The content of a part.
enum MultipartContent: Sendable, Hashable {
    case data(Data)
    /// A value that couldn't be encoded, and the reason.
    case notEncodable(String)
    case file(URL)
    case stream(Stream)

    init(json value: some Encodable, encoder: JSONEncoder?) {
        do {
            self = .data(try (encoder ?? JSONEncoder()).encodeWithSortedKeys(value))
        } catch {
            // The location and the reason, without the value, which may be a secret.
            self = .notEncodable(error.redactedLine)
        }
    }

    var isInMemory: Bool {
        switch self {
        case .data, .notEncodable: true
        case .file, .stream: false
        }
    }
}

extension MultipartContent {
    /// A stream, which is equal only to itself.
    final class Stream: Sendable, Hashable {
        let source: any BodySource

        init(_ source: any BodySource) {
            self.source = source
        }

        static func == (left: Stream, right: Stream) -> Bool { left === right }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}

extension MultipartForm.Part {
    /// A part with an image in memory, with common default names.
    ///
    /// - Parameters:
    ///   - data: The image.
    ///   - name: The name of the part; default `photo`.
    ///   - fileName: The file name; default `photo.jpg`.
    ///   - mimeType: The type; default `nil`: the type of the file name's extension, or `image/jpeg` if it has none or
    ///     is unknown.
    public static func image(
        _ data: Data,
        name: String = "photo",
        fileName: String = "photo.jpg",
        mimeType: String? = nil
    ) -> Self {
        let type = MIMEType.forFile(named: fileName)
        return .data(
            data,
            name: name,
            fileName: fileName,
            mimeType: mimeType ?? (type == MIMEType.unknown ? "image/jpeg" : type)
        )
    }
}

extension [MultipartForm.Part] {
    /// Parts with several images. Their names contain the index, from 0.
    ///
    /// - Parameters:
    ///   - images: The images in order.
    ///   - name: The fields' name, in which `{i}` is replaced by the index; default: `file{i}`, for `file0`, `file1`,
    ///     ….
    ///   - fileName: The file name, in which `{i}` is replaced by the index; default: `file{i}.jpg`.
    ///   - mimeType: The type of all images; default `nil`: the type of the file name's extension, or `image/jpeg` if
    ///     it has none or is unknown.
    public static func images(
        _ images: [Data],
        name: String = "file{i}",
        fileName: String = "file{i}.jpg",
        mimeType: String? = nil
    ) -> Self {
        images.enumerated().map { index, data in
            func numbered(_ name: String) -> String { name.replacingOccurrences(of: "{i}", with: "\(index)") }
            return .image(data, name: numbered(name), fileName: numbered(fileName), mimeType: mimeType)
        }
    }
}

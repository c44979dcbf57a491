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
        package let name: String
        /// The file name that the server is told; `nil`: the part is no file.
        package let fileName: String?
        /// The part's `Content-Type`; `nil`: none is sent, which means `text/plain` (RFC 7578 §4.4).
        package let mimeType: String?
        /// Further header fields of the part. A `Content-Type` here stands in for ``mimeType``.
        package let headers: HTTPHeaders

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

extension MultipartForm.Part: ReflectsDescription {
    /// The name and type, without the value.
    public var description: String { "\(name.debugDescription), \(mimeType ?? "text/plain")" }
}

/// Where a part's bytes come from.
enum MultipartContent: Sendable, Hashable {
    case data(Data)
    /// A value that could not be encoded, and why.
    case notEncodable(String)
    case file(URL)
    case stream(Stream)

    init(json value: some Encodable, encoder: JSONEncoder?) {
        do {
            self = .data(try (encoder ?? JSONEncoder()).encodeWithSortedKeys(value))
        } catch {
            self = .notEncodable(Self.reason(of: error))
        }
    }

    var isInMemory: Bool {
        switch self {
        case .data, .notEncodable: true
        case .file, .stream: false
        }
    }

    /// Where in the value and why; the value itself is left out, it may be a secret.
    private static func reason(of error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return String(describing: error) }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "at \(path): \(context.debugDescription)"
    }
}

extension MultipartContent {
    /// A stream with what it is compared by.
    struct Stream: Sendable, Hashable {
        let source: any BodySource
        /// Made with the part, so that a source which says nothing about itself equals at least its own copies.
        private let token = Token()

        init(_ source: any BodySource) {
            self.source = source
        }

        static func == (left: Self, right: Self) -> Bool {
            if let value = left.value, let other = right.value { return value == other }
            if let object = left.object, let other = right.object { return object == other }
            return left.token === right.token
        }

        func hash(into hasher: inout Hasher) {
            if let value {
                hasher.combine(value)
            } else {
                hasher.combine(object ?? ObjectIdentifier(token))
            }
        }

        private var value: AnyHashable? {
            (source as? any Hashable).map { AnyHashable($0) }
        }

        private var object: ObjectIdentifier? {
            // Linux boxes a struct for `as AnyObject`, in a new object each time.
            type(of: source) is AnyClass ? ObjectIdentifier(source as AnyObject) : nil
        }
    }

    private final class Token: Sendable {}
}

extension MultipartForm.Part {
    /// An image in memory, with the names that many endpoints for pictures expect.
    public static func image(
        _ data: Data,
        name: String = "photo",
        fileName: String = "photo.jpg",
        mimeType: String = "image/jpeg"
    ) -> Self {
        .data(data, name: name, fileName: fileName, mimeType: mimeType)
    }
}

extension [MultipartForm.Part] {
    /// Several images, each with its index, from 0, in its names.
    ///
    /// - Parameters:
    ///   - images: The images in order.
    ///   - name: The fields' name, in which `{i}` is replaced by the index; default: `file{i}`, for `file0`, `file1`, ….
    ///   - fileName: The file name, in which `{i}` is replaced by the index; default: `file{i}.jpg`.
    ///   - mimeType: The type of all images; default: `image/jpeg`.
    public static func images(
        _ images: [Data],
        name: String = "file{i}",
        fileName: String = "file{i}.jpg",
        mimeType: String = "image/jpeg"
    ) -> Self {
        images.enumerated().map { index, data in
            func numbered(_ name: String) -> String { name.replacingOccurrences(of: "{i}", with: "\(index)") }
            return .data(data, name: numbered(name), fileName: numbered(fileName), mimeType: mimeType)
        }
    }
}

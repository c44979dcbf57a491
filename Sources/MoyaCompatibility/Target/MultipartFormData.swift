// SPDX-License-Identifier: MIT
import TargetKit

/// A part of a body of the type `multipart/form-data` (RFC 7578).
public struct MultipartFormData: Hashable {
    /// The content of a part.
    public enum FormDataProvider: Hashable {
        /// Bytes.
        case data(Foundation.Data)
        /// The contents of a file, which is read while it is sent.
        case file(URL)
        /// A stream and its length in bytes. It can be read only once.
        case stream(InputStream, UInt64)
    }

    /// The content.
    public let provider: FormDataProvider
    /// The name of the field.
    public let name: String
    /// The file name; `nil` for none. A file without a file name has the name in its URL.
    public let fileName: String?
    /// The content type; `nil` for none. A file without a content type has the type of its extension.
    public let mimeType: String?

    /// Creates a part.
    ///
    /// - Parameters:
    ///   - provider: The content.
    ///   - name: The name of the field.
    ///   - fileName: The file name; default: none.
    ///   - mimeType: The content type; default: none.
    public init(provider: FormDataProvider, name: String, fileName: String? = nil, mimeType: String? = nil) {
        self.provider = provider
        self.name = name
        self.fileName = fileName
        self.mimeType = mimeType
    }
}

extension MultipartForm.Part {
    init(_ part: MultipartFormData) {
        switch part.provider {
        case .data(let data):
            self = .data(data, name: part.name, fileName: part.fileName, mimeType: part.mimeType)
        case .file(let url):
            self = .file(url, name: part.name, fileName: part.fileName, mimeType: part.mimeType)
        case .stream(let stream, let length):
            self = .stream(
                InputStreamSource(stream, length: length),
                name: part.name,
                fileName: part.fileName,
                mimeType: part.mimeType
            )
        }
    }
}

/// The bytes of an `InputStream`, which can be read only once.
final class InputStreamSource: BodySource {
    private let stream: Unchecked<InputStream>
    private let isOpened = Locked(false)
    let length: Int64?

    init(_ stream: InputStream, length: UInt64?) {
        self.stream = Unchecked(stream)
        self.length = length.map { Int64(clamping: $0) }
    }

    /// - Throws: `URLError(.requestBodyStreamExhausted)` if the stream was read before.
    func open() throws -> any BodyReader {
        let wasOpened = isOpened.withLock { isOpened in
            defer { isOpened = true }
            return isOpened
        }
        guard !wasOpened else { throw URLError(.requestBodyStreamExhausted) }
        return Reader(stream.value)
    }

    private final class Reader: BodyReader {
        private let stream: InputStream

        init(_ stream: InputStream) {
            self.stream = stream
            stream.open()
        }

        deinit { stream.close() }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            guard let base = buffer.baseAddress else { return 0 }
            let count = stream.read(base.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
            // `streamError` traps on Linux if there is no error.
            guard count >= 0 else { throw URLError(.cannotOpenFile) }
            return count
        }
    }
}

extension InputStreamSource: Hashable {
    /// Whether both read the same stream.
    static func == (left: InputStreamSource, right: InputStreamSource) -> Bool {
        left.stream.value === right.stream.value
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(stream.value))
    }
}

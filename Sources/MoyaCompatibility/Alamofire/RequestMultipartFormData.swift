// SPDX-License-Identifier: MIT
import TargetKit

/// A body of the type `multipart/form-data` that is built part by part.
open class RequestMultipartFormData {
    private var parts: [MultipartFormData] = []

    /// The boundary between the parts.
    public let boundary: String

    /// Creates an empty body.
    ///
    /// - Parameters:
    ///   - fileManager: Has no effect.
    ///   - boundary: The boundary between the parts; default: a random one.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        self.boundary = boundary ?? MultipartForm(parts: []).boundary
    }

    /// The content type of the body, with its boundary.
    open var contentType: String { form.contentType }

    /// Adds a part with bytes.
    public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        parts.append(MultipartFormData(provider: .data(data), name: name, fileName: fileName, mimeType: mimeType))
    }

    /// Adds a part with the contents of a file.
    public func append(_ fileURL: URL, withName name: String) {
        parts.append(MultipartFormData(provider: .file(fileURL), name: name))
    }

    /// Adds a part with the contents of a file.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        parts.append(MultipartFormData(provider: .file(fileURL), name: name, fileName: fileName, mimeType: mimeType))
    }

    /// Adds a part with the bytes of a stream.
    public func append(
        _ stream: InputStream,
        withLength length: UInt64,
        name: String,
        fileName: String,
        mimeType: String
    ) {
        let provider = MultipartFormData.FormDataProvider.stream(stream, length)
        parts.append(MultipartFormData(provider: provider, name: name, fileName: fileName, mimeType: mimeType))
    }

    /// Returns the bytes of the body.
    ///
    /// - Throws: ``AFError/multipartEncodingFailed(reason:)`` if a file or stream can't be read.
    public func encode() throws -> Data {
        do {
            var data = Data()
            try form.bodySource().readAll { data.append(contentsOf: $0) }
            return data
        } catch {
            throw AFError.multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
        }
    }

    private var form: MultipartForm {
        MultipartForm(parts: parts.map(MultipartForm.Part.init), boundary: boundary)
    }
}

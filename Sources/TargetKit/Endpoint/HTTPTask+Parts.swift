// SPDX-License-Identifier: MIT
import Foundation

// A task starts with one of these.
extension HTTPTask {
    /// Bytes as the body.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type for `Content-Type`; default `nil`: that of the target's header fields, if any.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPTask {
        HTTPTask(.data(data, contentType: contentType))
    }

    /// A value as JSON in the body, with `Content-Type: application/json` unless the header fields contain another.
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded when the call is made.
    ///   - encoder: The encoder; default: a plain `JSONEncoder`. Keys are always sorted, so that equal values give equal
    ///     bytes, unless the encoder is a subclass of `JSONEncoder`.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPTask {
        HTTPTask(.json(value, encoder ?? Self.jsonEncoder))
    }

    /// JSON as the body, for example a literal: `.json(["name": "Ann", "tags": ["x", nil]])`.
    public static func json(_ value: JSONValue) -> HTTPTask {
        HTTPTask(.json(value, Self.jsonEncoder))
    }

    /// A value as `application/x-www-form-urlencoded` in the body.
    public static func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        HTTPTask(.form(value, encoder))
    }

    /// A dictionary as `application/x-www-form-urlencoded` in the body, with sorted keys.
    public static func form(_ values: [String: any Sendable]) -> HTTPTask {
        plain.parameters(values, encoding: .form)
    }

    /// A form as `multipart/form-data` in the body (RFC 7578). Its files are read while they are sent.
    public static func multipart(_ form: MultipartForm) -> HTTPTask {
        HTTPTask(.multipart(form))
    }

    /// The contents of a regular file as the body, read while they are sent.
    public static func upload(file: URL) -> HTTPTask {
        HTTPTask(.file(file))
    }

    /// A dictionary in the query or the body, as ``parameters(_:encoding:)-(_,ParameterEncoding)`` describes.
    public static func parameters(
        _ values: [String: any Sendable],
        encoding: some ParameterEncoding = .url
    ) -> HTTPTask {
        plain.parameters(values, encoding: encoding)
    }

    /// The fields of a value as a query.
    public static func query(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        plain.query(value, encoder: encoder)
    }

    /// A dictionary as a query, with sorted keys.
    public static func query(_ values: [String: any Sendable]) -> HTTPTask {
        plain.query(values)
    }

    /// The response's body in a file, as ``download(to:)-(URL)`` describes.
    public static func download(to file: URL) -> HTTPTask {
        plain.download(to: file)
    }

    private init(_ content: RequestContent) {
        self.init()
        self.content = content
    }
}

// These are added to a task.
extension HTTPTask {
    /// Adds a dictionary in the place that its encoding determines: `.url` by the method (the query for GET, HEAD and
    /// DELETE, otherwise a form body), `.query`, `.form`, `.json`.
    public func parameters(
        _ values: [String: any Sendable],
        encoding: some ParameterEncoding = .url
    ) -> HTTPTask {
        var task = self
        task.parameters.append(EncodedParameters(values: values, encoding: encoding))
        return task
    }

    /// Adds the fields of a value to the query.
    public func query(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        adding(.encodable(value, encoder))
    }

    /// Adds a dictionary to the query, with sorted keys.
    public func query(_ values: [String: any Sendable]) -> HTTPTask {
        adding(.dictionary(values, URLEncoding()))
    }

    /// Writes the response's body to a file, which is replaced when the whole body has arrived and the response is an
    /// accepted success (RFC 9110 §15.3).
    ///
    /// Any other response leaves the file unchanged, for example a 304 or 404, even if the target accepts its status.
    /// The first mebibyte of its body is then the response's ``Response/data``, also in an error's response. The file's
    /// folder must exist; otherwise the call fails before anything is sent. A destination that exists must be a regular
    /// file, or a symbolic link to one. A file that is replaced keeps its permissions.
    public func download(to file: URL) -> HTTPTask {
        var task = self
        task.destination = .file(file)
        return task
    }

    /// Limits the size of the response's body, counted after decoding, which stays in memory.
    public func limit(bytes: Int) -> HTTPTask {
        var task = self
        task.destination = .memory(limit: bytes)
        return task
    }

    private func adding(_ values: QueryValues) -> HTTPTask {
        var task = self
        task.queries.append(values)
        return task
    }
}

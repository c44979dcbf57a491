// SPDX-License-Identifier: MIT
import Foundation

extension HTTPTask {
    /// Those bytes as the body.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type for `Content-Type`; default `nil`: the target's headers say it, or nobody.
    public func data(_ data: Data, contentType: String? = nil) -> HTTPTask {
        adding(.data(data, contentType: contentType))
    }

    /// The value as JSON in the body, with `Content-Type: application/json` unless the headers name another.
    ///
    /// - Parameters:
    ///   - value: What is encoded, when the call is made.
    ///   - encoder: Default: a plain `JSONEncoder`. Keys are always sorted, so that equal values give equal bytes,
    ///     unless the encoder is a subclass of `JSONEncoder`.
    public func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPTask {
        adding(.json(value, encoder ?? Self.jsonEncoder))
    }

    /// The JSON as the body, also a literal: `.json(["name": "Ann", "tags": ["x", nil]])`.
    public func json(_ value: JSONValue) -> HTTPTask {
        adding(.json(value, Self.jsonEncoder))
    }

    /// The value as `application/x-www-form-urlencoded` in the body.
    public func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        adding(.form(value, encoder))
    }

    /// The dictionary as `application/x-www-form-urlencoded` in the body, keys sorted.
    public func form(_ values: [String: any Sendable]) -> HTTPTask {
        parameters(values, encoding: .form)
    }

    /// The pairs as `application/x-www-form-urlencoded` in the body, in their order, repeated names kept.
    public func form(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        adding(.formPairs(pairs.map { ($0.key, $0.value) }, URLEncoding()))
    }

    /// The form as `multipart/form-data` in the body (RFC 7578). A form with files is read as it is sent.
    public func multipart(_ form: MultipartForm) -> HTTPTask {
        adding(.multipart(form))
    }

    /// Sends the contents of a regular file as the body, read as they are sent.
    public func upload(file: URL) -> HTTPTask {
        adding(.file(file))
    }

    /// The dictionary, put where its encoding says: `.url` by the method (query for GET, HEAD and DELETE, else a form
    /// body), `.query`, `.form`, `.json`.
    public func parameters(
        _ values: [String: any Sendable],
        encoding: some ParameterEncoding = .url
    ) -> HTTPTask {
        var task = self
        task.parameters.append(EncodedParameters(values: values, encoding: encoding))
        return task
    }

    /// The value's fields as a query, after what is there already.
    public func query(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        adding(.encodable(value, encoder))
    }

    /// The dictionary as a query, keys sorted, after what is there already.
    public func query(_ values: [String: any Sendable]) -> HTTPTask {
        adding(.dictionary(values, URLEncoding()))
    }

    /// The pairs as a query, in their order, repeated names kept, after what is there already.
    public func query(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        adding(.pairs(pairs.map { ($0.key, $0.value) }, URLEncoding()))
    }

    /// Writes the response's body to a file, which is replaced when the whole body has arrived and the response is an
    /// accepted success (RFC 9110 §15.3).
    ///
    /// Any other response leaves the file unchanged, for example a 304 or 404, even if the target accepts its status.
    /// The first mebibyte of its body is then the response's ``Response/data``, also in an error's response. The file's
    /// folder must exist; otherwise the call ends with `InvalidRequest.missingFolder(path:)`, and nothing is sent.
    /// A destination that exists must be a regular file, or a symbolic link to one; otherwise the call ends with
    /// `InvalidRequest.notAFile(path:)`. A file that is replaced keeps its permissions.
    public func download(to file: URL) -> HTTPTask {
        var task = self
        task.destination = .file(file)
        return task
    }

    /// The response's body stays in memory, but may not be larger than that many bytes, counted after decoding.
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

    private func adding(_ content: RequestContent) -> HTTPTask {
        var task = self
        if case .none = task.content {} else { task.hasTwoBodies = true }
        task.content = content
        return task
    }
}

extension HTTPTask {
    /// Those bytes as the body.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPTask {
        plain.data(data, contentType: contentType)
    }

    /// The value as JSON in the body.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPTask {
        plain.json(value, encoder: encoder)
    }

    /// The JSON as the body, also a literal: `.json(["name": "Ann", "tags": ["x", nil]])`.
    public static func json(_ value: JSONValue) -> HTTPTask {
        plain.json(value)
    }

    /// The value as `application/x-www-form-urlencoded` in the body.
    public static func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        plain.form(value, encoder: encoder)
    }

    /// The dictionary as `application/x-www-form-urlencoded` in the body, keys sorted.
    public static func form(_ values: [String: any Sendable]) -> HTTPTask {
        plain.form(values)
    }

    /// The pairs as `application/x-www-form-urlencoded` in the body, in their order.
    public static func form(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        plain.form(ordered: pairs)
    }

    /// The form as `multipart/form-data` in the body.
    public static func multipart(_ form: MultipartForm) -> HTTPTask {
        plain.multipart(form)
    }

    /// The bytes of a file as the body.
    public static func upload(file: URL) -> HTTPTask {
        plain.upload(file: file)
    }

    /// The dictionary, put where its encoding says.
    public static func parameters(
        _ values: [String: any Sendable],
        encoding: some ParameterEncoding = .url
    ) -> HTTPTask {
        plain.parameters(values, encoding: encoding)
    }

    /// The value's fields as a query.
    public static func query(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        plain.query(value, encoder: encoder)
    }

    /// The dictionary as a query, keys sorted.
    public static func query(_ values: [String: any Sendable]) -> HTTPTask {
        plain.query(values)
    }

    /// The pairs as a query, in their order.
    public static func query(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        plain.query(ordered: pairs)
    }

    /// The response's body goes into that file.
    public static func download(to file: URL) -> HTTPTask {
        plain.download(to: file)
    }
}

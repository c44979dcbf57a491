// SPDX-License-Identifier: MIT

extension HTTPTask {
    /// Returns this task with the bytes as its body.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The value of `Content-Type`; default `nil`, which means the field in the target's headers, if
    ///     any.
    public func data(_ data: Data, contentType: String? = nil) -> HTTPTask {
        adding(.data(data, contentType: contentType))
    }

    /// Returns this task with a JSON body, and `Content-Type: application/json` unless the headers set it.
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded when the call is made.
    ///   - encoder: The encoder; default: a `JSONEncoder`. Keys are always sorted, so that equal values give equal
    ///     bytes, unless the encoder is a subclass of `JSONEncoder`.
    public func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPTask {
        let encoder = encoder ?? Self.jsonEncoder
        return encoded(contentType: encoder.contentType) { try encoder.encodeWithSortedKeys(value) }
    }

    /// Returns this task with a JSON body, for example from a literal: `.json(["name": "Ann", "tags": ["x", nil]])`.
    public func json(_ value: JSONValue) -> HTTPTask {
        json(value, encoder: nil)
    }

    /// Returns this task with a value as its body, in the format of an encoder, and the encoder's `Content-Type` unless
    /// the headers set it.
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded when the call is made.
    ///   - encoder: The encoder. With a `JSONEncoder`, the same as `json(_:encoder:)`.
    public func encoded(_ value: some Encodable & Sendable, by encoder: some BodyEncoder) -> HTTPTask {
        if let encoder = encoder as? JSONEncoder { return json(value, encoder: encoder) }
        return encoded(contentType: encoder.contentType) { try encoder.encode(value) }
    }

    /// Returns this task with a body that a closure encodes, for example a protobuf message:
    /// `.encoded(contentType: "application/x-protobuf") { try message.serializedData() }`.
    ///
    /// - Parameters:
    ///   - contentType: The value of `Content-Type`, unless the headers set it.
    ///   - encode: Returns the bytes. Called when a request is created, on any thread. Its error is the underlying error
    ///     of a ``TargetKitError`` of stage `.request`.
    public func encoded(contentType: String, _ encode: @escaping @Sendable () throws -> Data) -> HTTPTask {
        adding(.encoded(contentType: contentType, encode))
    }

    /// Returns this task with the value as its `application/x-www-form-urlencoded` body.
    public func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        encoded(contentType: URLEncoding.contentType) { try encoder.encode(value) }
    }

    /// Returns this task with the dictionary as its `application/x-www-form-urlencoded` body, sorted by key.
    public func form(_ values: [String: any Sendable]) -> HTTPTask {
        parameters(values, encoding: .form)
    }

    /// Returns this task with the pairs as its `application/x-www-form-urlencoded` body, in order and with duplicate
    /// names.
    public func form(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        let pairs = pairs.map { ($0.key, $0.value) }
        return encoded(contentType: URLEncoding.contentType) {
            Data(try URLEncoding().queryString(ordered: pairs).utf8)
        }
    }

    /// Returns this task with a `multipart/form-data` body (RFC 7578). Files are read while they are sent.
    public func multipart(_ form: MultipartForm) -> HTTPTask {
        adding(.multipart(form))
    }

    /// Returns this task with the contents of a regular file as its body, read while they are sent.
    public func upload(file: URL) -> HTTPTask {
        adding(.file(file))
    }

    /// Returns this task with a driver, which performs the call with its own requests.
    ///
    /// A task has one driver. Resumable uploads and downloads to a file also set it. A call with two drivers fails
    /// without sending a request.
    public func driver(_ driver: some TransferDriver) -> HTTPTask {
        var task = self
        if let former = task.driver, type(of: former) != type(of: driver) { task.hasTwoDrivers = true }
        task.driver = driver
        return task
    }

    /// Returns this task with parameters in the query or body, depending on the encoding: `.url` (the query for GET,
    /// HEAD and DELETE, otherwise a form body), `.query`, `.form` or `.json`.
    public func parameters(
        _ values: [String: any Sendable],
        encoding: some ParameterEncoding = .url
    ) -> HTTPTask {
        var task = self
        task.parameters.append((values, encoding))
        return task
    }

    /// Returns this task with the value's properties appended to the query.
    public func query(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        adding { try encoder.encode(value) }
    }

    /// Returns this task with the dictionary appended to the query, sorted by key.
    public func query(_ values: [String: any Sendable]) -> HTTPTask {
        adding { try URLEncoding().queryString(values) }
    }

    /// Returns this task with the pairs appended to the query, in order and with duplicate names.
    public func query(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        let pairs = pairs.map { ($0.key, $0.value) }
        return adding { try URLEncoding().queryString(ordered: pairs) }
    }

    /// Returns this task with a file as the destination of the response body. An existing file is replaced when the
    /// body is complete and the response is an accepted success (RFC 9110 §15.3).
    ///
    /// Any other response, for example a 304 or 404, leaves the file unchanged, even if the target accepts its status.
    /// The response's ``Response/data`` then contains the first mebibyte of its body, also in an error's response.
    /// Missing folders are created. An existing destination must be a regular file or a symbolic link to a regular
    /// file; otherwise, the call fails with `InvalidRequest.notAFile(path:)` without sending a request. A replaced file
    /// retains its permissions.
    public func download(to file: URL) -> HTTPTask {
        download(to: .file(file))
    }

    /// Returns this task with a destination for the response body, for example
    /// `.download(to: .folder(downloads).existingFile(.number))`.
    ///
    /// ``Response/file`` is the URL of the file. A response that isn't an accepted success leaves an existing file
    /// unchanged; its ``Response/data`` contains the first mebibyte of its body.
    public func download(to destination: DownloadDestination) -> HTTPTask {
        var task = self
        if download != nil { task.removeDriver() }
        if let driver = destination.driver?(destination) {
            task = task.driver(driver)
        } else {
            task = task.driver(FileDownload(destination: destination))
        }
        task.download = destination
        return task
    }

    /// Returns this task with a limit for a response body in memory, in bytes after content decoding.
    public func limit(bytes: Int) -> HTTPTask {
        var task = self
        task.destination = .memory(limit: bytes)
        if task.download != nil { task.removeDriver() }
        return task
    }

    private func adding(query: @escaping @Sendable () throws -> String) -> HTTPTask {
        var task = self
        task.queries.append(query)
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
    /// A task with the bytes as its body.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPTask {
        plain.data(data, contentType: contentType)
    }

    /// A task with a JSON body.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPTask {
        plain.json(value, encoder: encoder)
    }

    /// A task with a JSON body, for example from a literal: `.json(["name": "Ann", "tags": ["x", nil]])`.
    public static func json(_ value: JSONValue) -> HTTPTask {
        plain.json(value)
    }

    /// A task with a value as its body, in the format of an encoder.
    public static func encoded(_ value: some Encodable & Sendable, by encoder: some BodyEncoder) -> HTTPTask {
        plain.encoded(value, by: encoder)
    }

    /// A task with a body that a closure encodes.
    public static func encoded(contentType: String, _ encode: @escaping @Sendable () throws -> Data) -> HTTPTask {
        plain.encoded(contentType: contentType, encode)
    }

    /// A task with the value as its `application/x-www-form-urlencoded` body.
    public static func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        plain.form(value, encoder: encoder)
    }

    /// A task with the dictionary as its `application/x-www-form-urlencoded` body, sorted by key.
    public static func form(_ values: [String: any Sendable]) -> HTTPTask {
        plain.form(values)
    }

    /// A task with the pairs as its `application/x-www-form-urlencoded` body, in order.
    public static func form(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        plain.form(ordered: pairs)
    }

    /// A task with a `multipart/form-data` body.
    public static func multipart(_ form: MultipartForm) -> HTTPTask {
        plain.multipart(form)
    }

    /// A task with the contents of a file as its body.
    public static func upload(file: URL) -> HTTPTask {
        plain.upload(file: file)
    }

    /// A task with parameters in the query or body, depending on the encoding.
    public static func parameters(
        _ values: [String: any Sendable],
        encoding: some ParameterEncoding = .url
    ) -> HTTPTask {
        plain.parameters(values, encoding: encoding)
    }

    /// A task with the value's properties as its query.
    public static func query(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> HTTPTask {
        plain.query(value, encoder: encoder)
    }

    /// A task with the dictionary as its query, sorted by key.
    public static func query(_ values: [String: any Sendable]) -> HTTPTask {
        plain.query(values)
    }

    /// A task with the pairs as its query, in order.
    public static func query(ordered pairs: KeyValuePairs<String, any Sendable>) -> HTTPTask {
        plain.query(ordered: pairs)
    }

    /// A task with a file as the destination of the response body.
    public static func download(to file: URL) -> HTTPTask {
        plain.download(to: file)
    }

    /// A task with a destination for the response body.
    public static func download(to destination: DownloadDestination) -> HTTPTask {
        plain.download(to: destination)
    }
}

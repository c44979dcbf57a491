// SPDX-License-Identifier: MIT

extension Response {
    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - keyPath: The key path of the value in JSON, for example `data.user` or `items.0`; default `nil`, which means
    ///     the whole body.
    ///   - decoder: The decoder; default `nil`, which means the decoder of the target or the provider, or else a
    ///     `JSONDecoder` with default settings.
    ///   - failsOnEmptyData: Whether an empty body is an error; default `true`. If `false`, an empty body is decoded as
    ///     the JSON `{}`, or as `[]` if that fails.
    /// - Throws: ``TargetKitError`` of stage `.decoding`, with the response and the underlying error. With a
    ///   `JSONDecoder`, the whole body must be valid JSON (RFC 8259), unless it allows JSON5 and there is no key path; the
    ///   error of one that is cut or malformed has the byte offset. A key path requires a `JSONDecoder`.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: (any BodyDecoder)? = nil,
        failsOnEmptyData: Bool = true
    ) throws(TargetKitError) -> Value {
        let decoder = self.decoder(decoder)
        do {
            if data.isEmpty, !failsOnEmptyData { return try Self.emptyValue(type, using: decoder) }
            return try Self.value(type, from: data, atKeyPath: keyPath, using: decoder)
        } catch {
            throw decoder is JSONDecoder ? jsonError(error) : formatError(error)
        }
    }

    /// Decodes the value at a key path, or the whole. The coding path of an error begins with the key path.
    static func value<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        atKeyPath keyPath: String?,
        using decoder: any BodyDecoder
    ) throws -> Value {
        guard let keyPath, !keyPath.isEmpty else {
            // `JSONDecoder` accepts trailing commas, and anything like a number or a string in values that aren't read
            // (Swift 6.3.1). The check takes about a sixth of its own scan.
            if let json = decoder as? JSONDecoder, !(type is any ReadFromBody.Type), json.readsJSON(data),
                let error = JSONScanner.error(in: data)
            {
                throw DecodingError(error)
            }
            return try value(type, from: data, using: decoder)
        }
        guard decoder is JSONDecoder else { throw UnreadableBody.keyPath(decoder: "\(Swift.type(of: decoder))") }
        let path = JSONPath(keyPath)
        let bytes = try path.value(in: data)
        do {
            return try value(type, from: bytes, using: decoder)
        } catch let error as DecodingError {
            throw error.below(path.keys)
        }
    }

    /// Decodes a value. Untyped values use their own parser, which is much faster than a decoder.
    static func value<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        using decoder: any BodyDecoder
    ) throws -> Value {
        if let parsed = type as? any ReadFromBody.Type, decoder is JSONDecoder,
            let value = try parsed.read(data) as? Value
        {
            return value
        }
        return try decoder.decode(type, from: data)
    }

    private static func emptyValue<Value: Decodable>(
        _ type: Value.Type,
        using decoder: any BodyDecoder
    ) throws -> Value {
        let decoder = decoder as? JSONDecoder ?? plainDecoder
        do {
            return try decoder.decode(type, from: Data("{}".utf8))
        } catch {
            guard let value = try? decoder.decode(type, from: Data("[]".utf8)) else { throw error }
            return value
        }
    }
}

/// A type that is read from JSON without a decoder, for the untyped values of TargetKitJSON.
package protocol ReadFromBody {
    /// Parses the JSON; returns `nil` if it is a value of another type.
    static func read(_ body: Data) throws -> Self?
}

extension JSONDecoder {
    /// Whether the decoder reads the bytes as JSON in UTF-8, and not as JSON5, as members without braces, or in UTF-16 or
    /// UTF-32, which starts with a byte order mark or contains a zero.
    fileprivate func readsJSON(_ data: Data) -> Bool {
        !allowsJSON5 && !assumesTopLevelDictionary && data.first ?? 0 < 0xFE && !data.prefix(4).contains(0)
    }
}

extension Response {
    /// The error for a body that isn't JSON or doesn't have the requested shape.
    package func jsonError(_ underlying: any Error) -> TargetKitError {
        var error = decodingError(underlying)
        error.unreadable = UnreadableBody(self, error: underlying)
        return error
    }

    /// The error for a body that a decoder of another format couldn't read.
    ///
    /// - Parameter mayBeJSON: Whether the value may be JSON that a closure decodes; default `false`.
    func formatError(_ underlying: any Error, mayBeJSON: Bool = false) -> TargetKitError {
        var error = decodingError(underlying)
        error.unreadable = UnreadableBody(self, ofOtherFormat: underlying, mayBeJSON: mayBeJSON)
        return error
    }

    /// The error for a body that can't be decoded.
    func decodingError(_ underlying: any Error) -> TargetKitError {
        TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: underlying)
    }
}

extension Response {
    /// Returns this response if its status code is accepted, for example `response.filter(.codes([200, 404]))`.
    ///
    /// - Parameter validation: The accepted status codes; default: 200 to 299.
    /// - Throws: ``TargetKitError`` of stage `.status`, with the response.
    public func filter(_ validation: StatusValidation = .successCodes) throws(TargetKitError) -> Response {
        guard validation.accepts(statusCode) else {
            // Without a stream's body, so that the error doesn't retain the connection.
            throw TargetKitError(stage: .status, target: target, request: request, response: head)
        }
        return self
    }
}

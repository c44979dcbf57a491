// SPDX-License-Identifier: MIT

import Foundation

/// What decoding makes of a body without bytes.
public enum EmptyBody: Sendable, Hashable {
    /// An error of stage `.decoding`.
    case fail
    /// The value that `{}` decodes to, or else the one that `[]` decodes to.
    case emptyValue
}

extension Response {
    /// The value in the body's JSON.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - keyPath: Where the value lies, `data.user` or `items.0` for one; default `nil`: the whole body.
    ///   - decoder: Default `nil`: the target's, else the provider's; a plain one for a response that was made by hand.
    ///   - emptyBody: What to make of a body without bytes; default: an error.
    /// - Throws: ``TargetKitError`` of stage `.decoding`, which holds the response and the error underneath.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil,
        whenEmpty emptyBody: EmptyBody = .fail
    ) throws(TargetKitError) -> Value {
        let decoder = self.decoder(decoder)
        do {
            if data.isEmpty, emptyBody == .emptyValue { return try Self.emptyValue(type, using: decoder) }
            guard let keyPath, !keyPath.isEmpty else { return try Self.value(type, from: data, using: decoder) }
            let path = JSONPath(keyPath)
            let bytes = try path.value(in: data)
            do {
                return try Self.value(type, from: bytes, using: decoder)
            } catch let error as DecodingError {
                throw error.below(path.keys)
            }
        } catch {
            throw jsonError(error)
        }
    }

    /// Dynamic values need no decoder: their own parser is many times as quick.
    static func value<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        using decoder: JSONDecoder
    ) throws -> Value {
        if let dynamic = type as? any DynamicJSON.Type,
            let value = dynamic.init(json: try JSONValue(parsing: data)) as? Value
        {
            return value
        }
        return try decoder.decode(type, from: data)
    }

    private static func emptyValue<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder) throws -> Value {
        do {
            return try decoder.decode(type, from: Data("{}".utf8))
        } catch {
            guard let value = try? decoder.decode(type, from: Data("[]".utf8)) else { throw error }
            return value
        }
    }
}

extension Response {
    /// The body's JSON as a dynamic value.
    ///
    /// - Parameters:
    ///   - keyPath: Where the value lies, `data.user` or `items.0` for one; default `nil`: the whole body.
    ///   - emptyBody: What to make of a body without bytes: an error, which is the default, or ``JSONValue/null``.
    /// - Throws: ``TargetKitError`` of stage `.decoding`, whose underlying error is a ``JSONParsingError``, or a `DecodingError`
    ///   when the key path leads nowhere.
    public func json(
        atKeyPath keyPath: String? = nil,
        whenEmpty emptyBody: EmptyBody = .fail
    ) throws(TargetKitError) -> JSONValue {
        do {
            if data.isEmpty, emptyBody == .emptyValue { return .null }
            guard let keyPath, !keyPath.isEmpty else { return try JSONValue(parsing: data) }
            return try JSONValue(parsing: JSONPath(keyPath).value(in: data))
        } catch {
            throw jsonError(error)
        }
    }

    /// The error for a body that is not JSON, or not of the requested shape.
    func jsonError(_ underlying: any Error) -> TargetKitError {
        var error = decodingError(underlying)
        error.unreadable = UnreadableBody(self, underlying)
        return error
    }

    /// The error of a body that is not what was asked for.
    func decodingError(_ underlying: any Error) -> TargetKitError {
        TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: underlying)
    }
}

extension Response {
    /// This response if its status code is accepted: `response.filter()`, `response.filter(.codes([200, 404]))`.
    ///
    /// - Parameter validation: The accepted status codes; default: 200 to 299.
    /// - Throws: ``TargetKitError`` of stage `.status`, with the response.
    public func filter(_ validation: StatusValidation = .successCodes) throws(TargetKitError) -> Response {
        guard validation.accepts(statusCode) else {
            // Without a stream's body, so that keeping the error does not keep the connection.
            throw TargetKitError(stage: .status, target: target, request: request, response: head)
        }
        return self
    }
}

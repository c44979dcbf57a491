// SPDX-License-Identifier: MIT
import Foundation

extension Response {
    /// Returns the response if its status code is in a range.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)`` otherwise.
    public func filter<R: RangeExpression>(statusCodes: R) throws -> Response where R.Bound == Int {
        guard statusCodes.contains(statusCode) else { throw MoyaError.statusCode(self) }
        return self
    }

    /// Returns the response if it has the status code.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)`` otherwise.
    public func filter(statusCode: Int) throws -> Response {
        try filter(statusCodes: statusCode...statusCode)
    }

    /// Returns the response if its status code is in 200 to 299.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)`` otherwise.
    public func filterSuccessfulStatusCodes() throws -> Response {
        try filter(statusCodes: 200...299)
    }

    /// Returns the response if its status code is in 200 to 399.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)`` otherwise.
    public func filterSuccessfulStatusAndRedirectCodes() throws -> Response {
        try filter(statusCodes: 200...399)
    }

    /// Returns the JSON value of the body.
    ///
    /// - Parameter failsOnEmptyData: Whether an empty body is an error rather than `NSNull`; default: yes.
    /// - Throws: ``MoyaError/jsonMapping(_:)`` if the body isn't JSON.
    public func mapJSON(failsOnEmptyData: Bool = true) throws -> Any {
        if data.isEmpty, !failsOnEmptyData { return NSNull() }
        do {
            return try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw MoyaError.jsonMapping(self)
        }
    }

    /// Returns the text of the body, or the string at a key path of its JSON.
    ///
    /// - Parameter keyPath: The key path, for example `user.name`; default `nil`: the whole body.
    /// - Throws: ``MoyaError/stringMapping(_:)`` if the body isn't UTF-8 or has no string at the key path.
    public func mapString(atKeyPath keyPath: String? = nil) throws -> String {
        let text =
            if let keyPath {
                Self.value(of: try mapJSON(), at: keyPath) as? String
            } else {
                String(data: data, encoding: .utf8)
            }
        guard let text else { throw MoyaError.stringMapping(self) }
        return text
    }

    /// Decodes the body, or the value at a key path of its JSON.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - keyPath: The key path, for example `data.user`; default `nil`: the whole body.
    ///   - decoder: The decoder; default: one with the default settings.
    ///   - failsOnEmptyData: Whether an empty body is an error, rather than decoded as an empty object or an array of
    ///     one; default: yes.
    /// - Throws: ``MoyaError/jsonMapping(_:)`` if the body isn't JSON or has no value at the key path, or
    ///   ``MoyaError/objectMapping(_:_:)`` if the value can't be decoded.
    public func map<D: Decodable>(
        _ type: D.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) throws -> D {
        do {
            if let keyPath {
                if let value = Self.value(of: try mapJSON(failsOnEmptyData: failsOnEmptyData), at: keyPath) {
                    return try decode(value, with: decoder)
                }
                if failsOnEmptyData { throw MoyaError.jsonMapping(self) }
            }
            if data.isEmpty, !failsOnEmptyData {
                for text in ["{}", "[{}]"] {
                    if let value = try? decoder.decode(D.self, from: Data(text.utf8)) { return value }
                }
            }
            return try decoder.decode(D.self, from: data)
        } catch let error as MoyaError {
            throw error
        } catch {
            throw MoyaError.objectMapping(error, self)
        }
    }

    /// Decodes a JSON value, which may be a string or a number.
    private func decode<D: Decodable>(_ value: Any, with decoder: JSONDecoder) throws -> D {
        if JSONSerialization.isValidJSONObject(value) {
            return try decoder.decode(D.self, from: JSONSerialization.data(withJSONObject: value))
        }
        let wrapped = ["value": value]
        guard JSONSerialization.isValidJSONObject(wrapped) else { throw MoyaError.jsonMapping(self) }
        return try decoder.decode(Wrapped<D>.self, from: JSONSerialization.data(withJSONObject: wrapped)).value
    }

    private struct Wrapped<Value: Decodable>: Decodable {
        let value: Value
    }

    /// The value at a key path. It is looked up in each element of an array, like Foundation's key paths on Apple's
    /// systems, which Foundation on Linux lacks.
    private static func value(of json: Any, at keyPath: String) -> Any? {
        // Foundation's key paths start at an object.
        guard json is [String: Any] else { return nil }
        return keyPath.split(separator: ".", omittingEmptySubsequences: false)
            .reduce(json as Any?) { value, key in value.flatMap { self.value(of: $0, for: String(key)) } }
    }

    private static func value(of json: Any, for key: String) -> Any? {
        if let array = json as? [Any] { return array.map { value(of: $0, for: key) ?? NSNull() } }
        return (json as? [String: Any])?[key]
    }
}

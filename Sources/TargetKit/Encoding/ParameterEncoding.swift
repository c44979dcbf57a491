// SPDX-License-Identifier: MIT

/// Encodes named parameters into the query or the body of a request.
///
/// TargetKit provides ``URLEncoding`` (`.url`, `.query`, `.form`) and ``JSONEncoding`` (`.json`). For another format,
/// conform to this protocol and return the request with the encoded parameters:
/// ```swift
/// struct LineEncoding: ParameterEncoding {
///     func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
///         var request = request
///         let lines = parameters.keys.sorted().map { "\($0)" }
///         request.httpBody = Data(lines.joined(separator: "\n").utf8)
///         return request
///     }
/// }
/// ```
/// Equal parameters should give equal bytes. Sort the keys, because a dictionary's order changes between runs.
/// TargetKit checks later whether the method allows a body.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with the parameters added.
    ///
    /// - Parameters:
    ///   - parameters: The names and values. The encoding determines which types it supports.
    ///   - request: The request. Keep its existing query and Content-Type.
    /// - Throws: An error that names the parameter that can't be encoded.
    func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest
}

/// The reason why parameters couldn't be encoded, and which of them is invalid.
///
/// It contains types and names, but no values, because a parameter can be a password.
struct ParameterEncodingError: Error, Sendable, Hashable, ReflectsDescription {
    /// The reason for the failure, in words.
    struct Reason: Sendable, Hashable {
        let words: String

        /// The format doesn't support values of the type.
        static func unsupportedType(_ type: String) -> Self {
            Self(words: "can't be encoded: values of type \(type) aren't supported")
        }

        /// The type can't be converted to a dictionary key.
        static func unsupportedKey(_ type: String) -> Self { Self(words: "can't be encoded: a \(type) can't be a key") }

        /// A number or a date that is NaN or infinite.
        static let notFinite = Self(words: "can't be encoded: it is NaN or infinite")
        /// A date outside the years 1 to 9999, which have no four-digit form in ISO 8601.
        static let dateOutOfRange = Self(words: "can't be encoded: the date is outside the years 1 to 9999")
        /// The nesting is deeper than ``ParameterEncodingError/maximumDepth``.
        static let tooDeep = Self(words: "can't be encoded: it is nested deeper than \(maximumDepth) levels")

        /// The top-level value of a form has no names. The text describes the value.
        static func rootWithoutKeys(_ root: String) -> Self {
            Self(words: "can't be encoded as a form: \(root) has no names")
        }

        /// The request has no URL, or its URL contains invalid characters.
        static let invalidURL = Self(words: "can't be added to the query: the request has no valid URL")
    }

    /// The maximum nesting depth of dictionaries and arrays: 512, the limit of Foundation's JSON parser.
    static let maximumDepth = 512

    /// The reason for the failure.
    let reason: Reason

    /// The name of the value in a form, for example `user[tags][0]`. Empty for the top-level value.
    let keyPath: String

    /// Creates an error for the value at a key path.
    init(_ reason: Reason, at keyPath: String = "") {
        self.reason = reason
        self.keyPath = keyPath
    }

    /// The reason and the name of the value in one line, without the value.
    var description: String {
        (keyPath.isEmpty ? "the parameters " : "the parameter \(keyPath) ") + reason.words
    }

    /// This error with the name of an enclosing container added to its key path.
    func inside(_ name: String, isRoot: Bool) -> Self {
        Self(reason, at: (isRoot ? name : "[\(name)]") + keyPath)
    }
}

extension URLRequest {
    /// Sets a body, and its Content-Type unless there is one.
    mutating func setBody(_ data: Data, contentType: String) {
        httpBody = data
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(contentType, forHTTPHeaderField: "Content-Type")
    }
}

/// Encodes parameters as a JSON object (RFC 8259) in the body.
///
/// Strings are escaped only where RFC 8259 §7 requires it, so `/` and non-ASCII text are unchanged. `nil` and `NSNull`
/// are `null`. Integers of any width and `Decimal` have all their digits; `Double` and `Float` are the shortest decimal
/// that reads back to the number (`1` for `1.0`). `Data` is a Base64 string, `URL` and `UUID` are strings, and a
/// `RawRepresentable` is its raw value. NaN, infinity and any other type are errors with the key path.
public struct JSONEncoding: ParameterEncoding {
    let sortedKeys: Bool
    let pretty: Bool
    let dates: URLEncodedFormEncoder.DateEncoding

    /// Creates an encoding.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether names are sorted at every level; default `true`, so that equal parameters give equal
    ///     bytes.
    ///   - pretty: Whether the JSON has line breaks and an indentation of two spaces; default `false`.
    ///   - dates: The format of dates; default: the number of seconds since 1970.
    public init(
        sortedKeys: Bool = true,
        pretty: Bool = false,
        dates: URLEncodedFormEncoder.DateEncoding = .secondsSince1970
    ) {
        self.sortedKeys = sortedKeys
        self.pretty = pretty
        self.dates = dates
    }

    /// Returns the request with the parameters as its body, and the Content-Type `application/json` unless one is set.
    ///
    /// - Throws: An error with the key path of the parameter that can't be encoded, or the error of a closure.
    public func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
        var request = request
        request.setBody(try data(parameters), contentType: "application/json")
        return request
    }

    /// The parameters as a JSON object.
    ///
    /// - Throws: An error with the key path of the parameter that can't be encoded, or the error of a closure.
    func data(_ parameters: [String: any Sendable]) throws -> Data {
        let reader = ParameterReader(dates: dates, sortsKeys: sortedKeys)
        return JSONValue.object(try reader.object(parameters)).jsonData(pretty: pretty)
    }
}

extension ParameterEncoding where Self == JSONEncoding {
    /// A JSON object as the body.
    public static var json: JSONEncoding { JSONEncoding() }
}

extension JSONEncoder {
    /// Encodes a value with sorted keys, so that equal values give equal bytes. Otherwise the order of a dictionary's
    /// keys varies.
    ///
    /// The encoder itself isn't changed, because other code may use it. If it doesn't sort keys, a new encoder with its
    /// settings is used, except for a subclass of `JSONEncoder`.
    func encodeWithSortedKeys(_ value: some Encodable) throws -> Data {
        guard type(of: self) == JSONEncoder.self, !outputFormatting.contains(.sortedKeys) else {
            return try encode(value)
        }
        let sorting = JSONEncoder()
        sorting.outputFormatting = outputFormatting.union(.sortedKeys)
        sorting.dateEncodingStrategy = dateEncodingStrategy
        sorting.dataEncodingStrategy = dataEncodingStrategy
        sorting.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        sorting.keyEncodingStrategy = keyEncodingStrategy
        sorting.userInfo = userInfo
        return try sorting.encode(value)
    }
}

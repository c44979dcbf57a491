// SPDX-License-Identifier: MIT

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

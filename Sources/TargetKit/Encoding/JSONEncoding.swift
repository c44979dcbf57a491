// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Writes parameters as a JSON object (RFC 8259) into the body.
///
/// It does not go through `JSONSerialization`, which takes many times as long. Strings are escaped only where RFC 8259 §7
/// asks for it, so `/` and non-ASCII text stay as they are. `nil` and `NSNull` are `null`. Numbers are exact: integers of
/// any width and `Decimal` in all their digits, `Double` and `Float` as short as reads back to the same number (`1.0` as
/// `1`); NaN and infinity are errors that say where. `URL` and `UUID` are strings, a `RawRepresentable` is its raw value,
/// and any type that JSON has no form for is a ``ParameterEncodingError`` with its key path.
public struct JSONEncoding: ParameterEncoding {
    /// Whether names are sorted, at every level. Default: yes, so that the same parameters give the same bytes each time.
    public var sortedKeys: Bool
    /// Whether the text is broken into lines and indented by two spaces. Default: no.
    public var pretty: Bool
    /// How a `Date` is written. Default: a number of seconds since 1970.
    public var dates: URLEncodedFormEncoder.DateEncoding
    /// How `Data` is written. Default: a Base64 string.
    public var data: URLEncodedFormEncoder.DataEncoding

    /// An encoding with these rules.
    public init(
        sortedKeys: Bool = true,
        pretty: Bool = false,
        dates: URLEncodedFormEncoder.DateEncoding = .secondsSince1970,
        data: URLEncodedFormEncoder.DataEncoding = .base64
    ) {
        self.sortedKeys = sortedKeys
        self.pretty = pretty
        self.dates = dates
        self.data = data
    }

    /// The request with the parameters as its body, and the Content-Type `application/json` unless it has one.
    ///
    /// - Throws: ``ParameterEncodingError``, or what a custom rule's closure throws.
    public func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
        var request = request
        request.setJSONBody(try data(parameters))
        return request
    }

    /// The parameters as a JSON object.
    ///
    /// - Throws: ``ParameterEncodingError``, or what a custom rule's closure throws.
    public func data(_ parameters: [String: any Sendable]) throws -> Data {
        var buffer = ByteBuffer(capacity: parameters.count * 32 + 16)
        try write(root: parameters, to: &buffer)
        return buffer.data
    }
}

extension ParameterEncoding where Self == JSONEncoding {
    /// A JSON object as the body.
    public static var json: JSONEncoding { JSONEncoding() }
}

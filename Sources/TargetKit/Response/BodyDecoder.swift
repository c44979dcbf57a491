// SPDX-License-Identifier: MIT

/// Decodes the values of a format, for the option ``CallOptions/decoder``.
///
/// `JSONDecoder` and `PropertyListDecoder` conform. For another format, conform a type that calls its decoder:
///
/// ```swift
/// struct XMLBodyDecoder: BodyDecoder {
///     func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
///         try XMLDecoder().decode(type, from: data)
///     }
/// }
/// ```
///
/// A value that isn't `Decodable`, such as a protobuf message, is decoded by a ``BodyDecoding``.
public protocol BodyDecoder: Sendable {
    /// Decodes a value from the bytes of a body. Can be called concurrently.
    ///
    /// - Throws: `DecodingError`, or another error of the format.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: BodyDecoder {}
extension PropertyListDecoder: BodyDecoder {}

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

extension CallOptions {
    /// The decoder for values of the response, such as a `JSONDecoder` with a key strategy or a `PropertyListDecoder`;
    /// default `nil`, which means a `JSONDecoder` with default settings.
    public var decoder: (any BodyDecoder)? {
        get { self[DecoderKey.self] }
        set { self[DecoderKey.self] = newValue }
    }

    /// Returns options that set the decoder, so that static members of `JSONDecoder` need no type name.
    public static func setting(
        _ option: any WritableKeyPath<CallOptions, (any BodyDecoder)?> & Sendable,
        _ decoder: JSONDecoder
    ) -> CallOptions {
        CallOptions().setting(option, decoder)
    }

    /// Returns these options with a decoder, so that static members of `JSONDecoder` need no type name.
    public func setting(
        _ option: any WritableKeyPath<CallOptions, (any BodyDecoder)?> & Sendable,
        _ decoder: JSONDecoder
    ) -> CallOptions {
        setting(option, decoder as (any BodyDecoder)?)
    }
}

private enum DecoderKey: CallOptionKey { static let defaultValue: (any BodyDecoder)? = nil }

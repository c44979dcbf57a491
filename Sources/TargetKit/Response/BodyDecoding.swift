// SPDX-License-Identifier: MIT

/// Makes the value of a call from its response, for ``Provider/request(_:decoding:options:)``.
///
/// For a format whose values aren't `Decodable`, create one from a closure:
///
/// ```swift
/// extension BodyDecoding where Value: Message {
///     /// A protobuf message.
///     static var protobuf: Self { .init { data in try Value(serializedBytes: data) } }
/// }
///
/// let order: Order = try await provider.request(.order(id: 7), decoding: .protobuf)
/// ```
///
/// The closure is called within the call, for a response whose status the target accepts. A plugin can therefore retry a
/// call whose value can't be decoded, and a cache doesn't store its response.
public struct BodyDecoding<Value: Sendable>: Sendable {
    private let decode: @Sendable (Response, CallOptions) throws -> Value

    private init(_ decode: @escaping @Sendable (Response, CallOptions) throws -> Value) {
        self.decode = decode
    }

    /// Creates a decoding from a closure that reads the body.
    ///
    /// - Parameter decode: Returns the value of the body, or of the payload if the call has an envelope; the data is empty
    ///   if there is none. Called on any thread, once for each attempt. Its error is the underlying error of a
    ///   ``TargetKitError`` of stage `.decoding`; a `TargetKitError` is thrown unchanged.
    public init(_ decode: @escaping @Sendable (Data) throws -> Value) {
        self.init { response, options in
            let data = try options.envelope.map { try response.payload(in: $0) ?? Data() } ?? response.data
            do {
                return try decode(data)
            } catch {
                throw (error as? TargetKitError) ?? response.formatError(error, mayBeJSON: true)
            }
        }
    }

    /// Creates a decoding from a closure that reads the header fields as well as the body.
    ///
    /// - Parameter decode: Returns the value of the whole response, whose envelope, if the call has one, reports no
    ///   failure. Called on any thread, once for each attempt. Its error is the underlying error of a ``TargetKitError``
    ///   of stage `.decoding`; a `TargetKitError` is thrown unchanged.
    @_disfavoredOverload
    public init(response decode: @escaping @Sendable (Response) throws -> Value) {
        self.init { response, options in
            if let envelope = options.envelope { try response.unwrap(envelope) }
            return try decode(response)
        }
    }

    /// The same decoding, whose value comes with the response, for example for a header field.
    public var withResponse: BodyDecoding<(value: Value, response: Response)> {
        .init { response, options in (try decode(response, options), response) }
    }

    func value(of response: Response, with options: CallOptions) throws(TargetKitError) -> Value {
        do {
            return try decode(response, options)
        } catch {
            throw (error as? TargetKitError) ?? response.decodingError(error)
        }
    }
}

extension BodyDecoding where Value: Decodable {
    /// Decodes the value with the call's ``CallOptions/decoder``, as ``Provider/request(_:as:atKeyPath:options:)`` does.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the JSON of the body or of the envelope's payload; default `nil`, which
    ///     means the whole body or payload.
    public static func decodable(_ type: Value.Type = Value.self, atKeyPath keyPath: String? = nil) -> Self {
        Self { response, options in
            if let envelope = options.envelope {
                try response.unwrap(type, from: envelope, atKeyPath: keyPath, using: options.decoder)
            } else {
                try response.decode(type, atKeyPath: keyPath, using: options.decoder)
            }
        }
    }
}

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

/// A value of a response: `Decodable` and `Sendable`.
///
/// ```swift
/// struct Product: ResponseModel {
///     let id: Int
///     let name: String
/// }
///
/// let product = try await provider.request(.product(id: 7), as: Product.self)
/// ```
///
/// In a module whose default isolation is `MainActor`, as in a new app, a type that conforms to `Decodable` alone is
/// isolated to the main actor, and can't be decoded by a call. A type that conforms to this protocol isn't isolated, and
/// needs no further annotation. In other modules, `Decodable & Sendable` is the same.
public protocol ResponseModel: Decodable, Sendable {}

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
            guard let envelope = options.envelope else { return try decode(response.data) }
            return try decode(response.payload(in: envelope) ?? Data())
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

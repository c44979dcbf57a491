// SPDX-License-Identifier: MIT

/// The JSON that a server wraps around its values, with a code for the outcome, a message, and the value.
///
/// `CodeMessageData` of TargetKitJSON reads `{"code": …, "message": …, "data": …}`. For another shape, conform your own
/// type:
///
/// ```swift
/// import TargetKit
/// import TargetKitJSON
///
/// struct ShopEnvelope: ResponseEnvelope {
///     func payload(of response: Response) throws -> Data? {
///         let json = try response.json()
///         if let fault = json.fault.string {
///             throw ServerDefinedError(code: fault, message: "")
///         }
///         return json.result == .null ? nil : json.result.jsonData()
///     }
/// }
/// ```
///
/// An envelope is an option of a call, so modules with envelopes of different shapes can share a provider.
public protocol ResponseEnvelope: Sendable {
    /// Returns the JSON of the value inside; `nil` if there is none or it is `null`.
    ///
    /// Called for every complete response, even if the target doesn't accept its status.
    ///
    /// - Throws: ``ServerDefinedError`` if the body reports a failure; any other error if the body isn't such an
    ///   envelope.
    func payload(of response: Response) throws -> Data?

    /// The key path of the value in the body, used as a prefix of key paths in decoding errors; default `nil`, which
    /// means unknown.
    var valueKeyPath: String? { get }

    /// Whether an empty array or string is read as `null` if the value can't be decoded from it; default `false`.
    ///
    /// PHP writes `[]` for an empty object. With `true`, an optional model is `nil` for `"data": []` and `"data": ""`,
    /// while `[Product]` and `String` are decoded as they are. It applies to the value that is decoded, also below a key
    /// path, and not to the properties of a model.
    var emptyIsNull: Bool { get }
}

extension ResponseEnvelope {
    /// `nil`.
    public var valueKeyPath: String? { nil }

    /// `false`.
    public var emptyIsNull: Bool { false }

    fileprivate var valueKeys: [String] { valueKeyPath.map { JSONPath($0).keys } ?? [] }
}

extension Response {
    /// Decodes the value inside the body's envelope.
    ///
    /// A missing value decodes like `null`: as `nil` for an optional type, as ``JSONValue/null``, and as an error for
    /// any other type.
    ///
    /// - Throws: ``TargetKitError`` of stage `.envelope` with a ``ServerDefinedError`` if the body reports a failure;
    ///   of stage `.status` if the status is 400 or more and the body doesn't report a failure; of stage `.decoding` if
    ///   the body isn't such an envelope or the value doesn't match the type.
    public func unwrap<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from envelope: some ResponseEnvelope,
        atKeyPath keyPath: String? = nil,
        using decoder: (any BodyDecoder)? = nil
    ) throws(TargetKitError) -> Value {
        let given = self.decoder(decoder)
        let payload = try payload(in: envelope)
        // A value that is missing is JSON's `null` in every format.
        let decoder = payload == nil ? given as? JSONDecoder ?? Self.plainDecoder : given
        let bytes = payload ?? Data("null".utf8)
        do {
            return try Self.value(type, from: bytes, atKeyPath: keyPath, using: decoder)
        } catch {
            if envelope.emptyIsNull, let value = try? JSONPath(keyPath ?? "").value(in: bytes), value.isEmptyJSON,
                let null = try? Self.value(type, from: Data("null".utf8), using: decoder)
            {
                return null
            }
            let error = (error as? DecodingError)?.below(envelope.valueKeys) ?? error
            throw decoder is JSONDecoder ? decodingError(error) : formatError(error)
        }
    }

    /// Checks the body's envelope for a call without a value. An empty body with a status of 200–299 is a success.
    ///
    /// - Throws: ``TargetKitError``, as ``unwrap(_:from:atKeyPath:using:)`` does.
    func unwrap(_ envelope: some ResponseEnvelope) throws(TargetKitError) {
        if data.isEmpty, (200...299).contains(statusCode) { return }
        _ = try payload(in: envelope)
    }

    /// The payload of the body's envelope.
    ///
    /// - Throws: ``TargetKitError``, as ``unwrap(_:from:atKeyPath:using:)`` does.
    func payload(in envelope: some ResponseEnvelope) throws(TargetKitError) -> Data? {
        let payload: Data?
        do {
            payload = try envelope.payload(of: self)
        } catch let error as ServerDefinedError {
            throw failed(.envelope, underlying: error)
        } catch {
            guard statusCode < 400 else { throw failed(.status) }
            throw (error as? TargetKitError) ?? jsonError(error)
        }
        if statusCode >= 400 { throw failed(.status) }
        return payload
    }

    private func failed(_ stage: TargetKitError.Stage, underlying: (any Error)? = nil) -> TargetKitError {
        TargetKitError(stage: stage, target: target, request: request, response: self, underlying: underlying)
    }
}

extension TargetKitError {
    /// This failure with the error from the body's envelope, for a response whose status wasn't accepted.
    func explained(by envelope: some ResponseEnvelope) -> TargetKitError {
        guard stage == .status, appError == nil, let response else { return self }
        do {
            _ = try envelope.payload(of: response)
            return self
        } catch let refusal as ServerDefinedError {
            var error = self
            error.stage = .envelope
            error.mark(.rejectedStatus)
            error.underlying = refusal
            return error
        } catch {
            return self
        }
    }

    /// This error before an envelope explained it.
    var unexplained: TargetKitError {
        guard isMarked(.rejectedStatus) else { return self }
        var error = self
        error.stage = .status
        error.underlying = nil
        error.mark(.rejectedStatus, false)
        return error
    }
}

extension Data {
    /// Whether this JSON is `[]` or `""`.
    fileprivate var isEmptyJSON: Bool {
        filter { !$0.isJSONSpace } == Array("[]".utf8) || self == Data("\"\"".utf8)
    }
}

extension CallOptions {
    /// The structure around the server's values; default `nil`. A call fails with stage `.envelope` if its envelope
    /// reports a failure. Values are decoded from the envelope's payload.
    public var envelope: (any ResponseEnvelope)? {
        get { self[EnvelopeKey.self] }
        set { self[EnvelopeKey.self] = newValue }
    }
}

private enum EnvelopeKey: CallOptionKey { static let defaultValue: (any ResponseEnvelope)? = nil }

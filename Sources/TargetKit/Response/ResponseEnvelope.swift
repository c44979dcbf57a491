// SPDX-License-Identifier: MIT
import Foundation

/// What a server wraps around the values it answers with: a code that says how it went, a message, and the value itself.
///
/// ``CodeMessageData`` is ready for `{"code": …, "message": …, "data": …}` and the like. Another shape is a type of its own:
///
/// ```swift
/// struct ShopEnvelope: ResponseEnvelope {
///     func payload(of response: Response) throws -> Data? {
///         let json = try response.json()
///         if let fault = json.fault.string {
///             throw ServerDefinedError(code: ServerCode(fault), message: "", httpStatus: response.statusCode)
///         }
///         return json.result.isNull ? nil : json.result.jsonData()
///     }
/// }
/// ```
///
/// Envelopes are values that are given to a call, so that modules with different shapes live side by side.
public protocol ResponseEnvelope: Sendable {
    /// The JSON of the value inside; `nil` when there is none, or `null`.
    ///
    /// It is asked of every response that has come whole, also of one whose status the target does not accept.
    ///
    /// - Throws: ``ServerDefinedError`` when the body says that the call failed; anything else when the body is no such
    ///   envelope.
    func payload(of response: Response) throws -> Data?
}

extension Response {
    /// The value inside the body's envelope. Its JSON is decoded once, right where it lies in the body.
    ///
    /// A value that is missing or `null` decodes as `null`: as `nil` of an optional type, as ``JSONValue/null``, and as an error
    /// for any other.
    ///
    /// - Throws: ``TargetKitError``: of stage `.envelope`, with a ``ServerDefinedError`` underneath, when the body says that the
    ///   call failed; of stage `.status` when the status is 400 or more and the body does not say why; of stage `.decoding` when
    ///   the body is no such envelope or the value is not of that type.
    public func unwrap<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from envelope: some ResponseEnvelope,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil
    ) throws(TargetKitError) -> Value {
        let payload = try payload(in: envelope) ?? Data("null".utf8)
        do {
            guard let keyPath, !keyPath.isEmpty else {
                return try Self.value(type, from: payload, using: self.decoder(decoder))
            }
            return try Self.value(type, from: try JSONPath(keyPath).value(in: payload), using: self.decoder(decoder))
        } catch {
            throw decodingError((error as? DecodingError)?.below(envelope.place) ?? error)
        }
    }

    /// Checks what the body's envelope says, for a call whose success is all that there is to know. A body without bytes
    /// whose status is 200–299 is a success.
    ///
    /// - Throws: ``TargetKitError``, as ``unwrap(_:from:atKeyPath:using:)`` does.
    public func unwrap(_ envelope: some ResponseEnvelope) throws(TargetKitError) {
        if data.isEmpty, (200...299).contains(statusCode) { return }
        _ = try payload(in: envelope)
    }

    private func payload(in envelope: some ResponseEnvelope) throws(TargetKitError) -> Data? {
        let payload: Data?
        do {
            payload = try envelope.payload(of: self)
        } catch let error as ServerDefinedError {
            throw failed(.envelope, error)
        } catch {
            guard statusCode < 400 else { throw failed(.status) }
            throw (error as? TargetKitError) ?? jsonError(error)
        }
        if statusCode >= 400 { throw failed(.status) }
        return payload
    }

    private func failed(_ stage: TargetKitError.Stage, _ underlying: (any Error)? = nil) -> TargetKitError {
        TargetKitError(stage: stage, target: target, request: request, response: self, underlying: underlying)
    }
}

extension ResponseEnvelope {
    /// Where the value lies, as far as that is known; for the place that an error names.
    fileprivate var place: [String] { (self as? CodeMessageData)?.data.keys ?? [] }
}

extension TargetKitError {
    /// The same failure with what the body's envelope says about it, for a response whose status was not accepted.
    func explained(by envelope: some ResponseEnvelope) -> TargetKitError {
        guard stage == .status, appError == nil, let response else { return self }
        do {
            _ = try envelope.payload(of: response)
            return self
        } catch let refusal as ServerDefinedError {
            var error = self
            error.stage = .envelope
            error.underlying = refusal
            return error
        } catch {
            return self
        }
    }
}

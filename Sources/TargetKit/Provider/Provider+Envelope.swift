// SPDX-License-Identifier: MIT
import Foundation

extension Provider {
    /// Makes a call and decodes the value inside the envelope of its response.
    ///
    /// ```swift
    /// let user = try await provider.request(.user(7), unwrapping: CodeMessageData(), as: User.self)
    /// let coupon: Coupon? = try await provider.request(.coupon, unwrapping: ShopEnvelope())
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - envelope: The shape that the server's module uses.
    ///   - type: What to decode; an optional where the value may be missing or `null`.
    ///   - decoder: Default `nil`: the target's, else the provider's.
    /// - Throws: ``TargetKitError``: of stage `.envelope`, with a ``ServerDefinedError`` underneath, when the body says that the
    ///   call failed, whatever its status; of stage `.status` when the status is 400 or more, or not accepted, and the body does
    ///   not say why; of stage `.decoding` when the body is no such envelope or the value is not of that type.
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        unwrapping envelope: some ResponseEnvelope,
        as type: Value.Type = Value.self,
        using decoder: JSONDecoder? = nil
    ) async throws(TargetKitError) -> Value {
        let decoder = self.decoder(decoder, for: target)
        do throws(TargetKitError) {
            return try await value(of: target) { response throws(TargetKitError) in
                try response.unwrap(type, from: envelope, using: decoder)
            }
        } catch {
            throw error.explained(by: envelope)
        }
    }

    /// Makes a call and checks what the envelope of its response says; the value inside does not matter.
    ///
    /// - Throws: ``TargetKitError``, as the call with a value does.
    public func request(
        _ target: Target,
        unwrapping envelope: some ResponseEnvelope
    ) async throws(TargetKitError) {
        do throws(TargetKitError) {
            try await value(of: target) { response throws(TargetKitError) in try response.unwrap(envelope) }
        } catch {
            throw error.explained(by: envelope)
        }
    }
}

extension Provider where Target == MultiTarget {
    /// Makes a call and decodes what its target says it brings, inside the envelope of its response. The envelope says where
    /// the value lies, the target's `keyPath` does not count.
    ///
    /// - Throws: ``TargetKitError``, as the call with a type does.
    public func request<Typed: TypedTarget>(
        _ target: Typed,
        unwrapping envelope: some ResponseEnvelope
    ) async throws(TargetKitError) -> Typed.Output {
        try await request(MultiTarget(target), unwrapping: envelope, as: Typed.Output.self)
    }
}

extension Provider where Target: TypedTarget {
    /// Makes a call and decodes what its target says it brings, inside the envelope of its response. The envelope says where
    /// the value lies, the target's `keyPath` does not count.
    ///
    /// - Throws: ``TargetKitError``, as the call with a type does.
    public func request(
        _ target: Target,
        unwrapping envelope: some ResponseEnvelope
    ) async throws(TargetKitError) -> Target.Output {
        try await request(target, unwrapping: envelope, as: Target.Output.self)
    }
}

// SPDX-License-Identifier: MIT
import Foundation

extension Provider {
    /// Makes a call and waits for its response.
    ///
    /// Cancelling the surrounding task cancels the call. In a `Task`, `do throws(TargetKitError)` keeps the type of the error:
    ///
    /// ```swift
    /// Task {
    ///     do throws(TargetKitError) {
    ///         show(try await provider.request(.latest))
    ///     } catch {
    ///         show(error.kind)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    /// - Throws: ``TargetKitError``; of stage `.status`, with the response, for a status code that the target's
    ///   ``TargetType/validation`` does not accept.
    public func request(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Response {
        try await response(of: target, options, Self.envelopeCheck).get()
    }

    /// Makes a call and decodes the JSON of its response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: What to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload, for example `data.user`; default `nil`: the
    ///     whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response, when the body is not such a value.
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Value {
        let value = DecodedValue<Value>(keyPath: keyPath)
        let result = await response(of: target, options, value.decoding)
        return try value.result(result).get()
    }

    /// Makes a call and passes its result to a closure on the main actor.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - progress: Gets the number of bytes sent and received, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call, or to await its response. The call does not depend on it.
    @discardableResult
    public func request(
        _ target: Target,
        options: CallOptions = CallOptions(),
        progress: (@MainActor @Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @MainActor @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        request(
            target,
            options: options,
            on: .main,
            progress: onMainActor(progress),
            completion: onMainActor(completion)
        )
    }

    /// Makes a call and passes its result to a closure on a queue.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: Where the closures are called.
    ///   - progress: Gets the number of bytes sent and received, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call, or to await its response. The call does not depend on it.
    @discardableResult
    public func request(
        _ target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        start(target, options, on: queue, progress, Self.envelopeCheck, completion)
    }

    /// Makes a call, decodes the JSON of its response, and passes the value to a closure on the main actor.
    ///
    /// The value is decoded on another thread.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: What to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`: the whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - progress: Gets the number of bytes sent and received, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call, or to await its response. The call does not depend on it.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        options: CallOptions = CallOptions(),
        progress: (@MainActor @Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @MainActor @Sendable (Result<Value, TargetKitError>) -> Void
    ) -> RequestHandle {
        request(
            target,
            as: type,
            atKeyPath: keyPath,
            options: options,
            on: .main,
            progress: onMainActor(progress),
            completion: onMainActor(completion)
        )
    }

    /// Makes a call, decodes the JSON of its response, and passes the value to a closure on a queue.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: What to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`: the whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: Where the closures are called.
    ///   - progress: Gets the number of bytes sent and received, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call, or to await its response. The call does not depend on it.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Value, TargetKitError>) -> Void
    ) -> RequestHandle {
        let value = DecodedValue<Value>(keyPath: keyPath)
        return start(target, options, on: queue, progress, value.decoding) {
            completion(value.result($0))
        }
    }
}

extension Provider where Target: TypedTarget {
    /// Makes a call and decodes the value that its target declares.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response, when the body is not such a value.
    public func request(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Target.Output {
        try await request(target, as: Target.Output.self, atKeyPath: target.keyPath, options: options)
    }
}

extension Provider where Target == MultiTarget {
    /// Makes a call of any target and waits for its response.
    ///
    /// - Throws: ``TargetKitError``, as the call of a ``MultiTarget`` does.
    public func request(
        _ target: some TargetType,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Response {
        try await request(MultiTarget(target), options: options)
    }

    /// Makes a call of any target and decodes the value that the target declares.
    ///
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response, when the body is not such a value.
    public func request<Typed: TypedTarget>(
        _ target: Typed,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Typed.Output {
        try await request(MultiTarget(target), as: Typed.Output.self, atKeyPath: target.keyPath, options: options)
    }
}

/// The closure as one that is called on the main queue.
private func onMainActor<Value: Sendable>(
    _ body: @escaping @MainActor @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
    { value in MainActor.assumeIsolated { body(value) } }
}

private func onMainActor<Value: Sendable>(
    _ body: (@MainActor @Sendable (Value) -> Void)?
) -> (@Sendable (Value) -> Void)? {
    guard let body else { return nil }
    return onMainActor(body) as @Sendable (Value) -> Void
}

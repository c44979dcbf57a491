// SPDX-License-Identifier: MIT

extension Provider {
    /// Makes a call and waits for its response.
    ///
    /// Cancelling the surrounding task cancels the call. In a `Task`, use `do throws(TargetKitError)` to preserve the
    /// error's type:
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
    /// - Throws: ``TargetKitError``, with stage `.status` and the response for a status code that the target's
    ///   ``TargetType/validation`` doesn't accept.
    @_semantics("optimize.sil.specialize.generic.never")
    public func request(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Response {
        // The attribute keeps the compiler from making a copy of this function for each type of target.
        try await response(of: target, options: options, decoding: EnvelopeCheck()).get()
    }

    /// Makes a call and decodes the JSON of its response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload, for example `data.user`;
    ///     default `nil`, which means the whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    /// - Throws: ``TargetKitError``, with stage `.decoding` and the response if the body can't be decoded.
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Value {
        try await request(target, decoding: .decodable(type, atKeyPath: keyPath), options: options)
    }

    /// Makes a call and makes a value of its response, in any format.
    ///
    /// ```swift
    /// let (orders, response) = try await provider.request(
    ///     .orders,
    ///     decoding: BodyDecoding.decodable([Order].self).withResponse
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - decoding: Makes the value.
    ///   - options: Override the target's and the provider's options; default: none.
    /// - Throws: ``TargetKitError``, with stage `.decoding` and the response if the value can't be made.
    @_semantics("optimize.sil.specialize.generic.never")
    public func request<Value: Sendable>(
        _ target: Target,
        decoding: BodyDecoding<Value>,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Value {
        let value = DecodedValue(by: decoding)
        return try value.result(of: await response(of: target, options: options, decoding: value)).get()
    }

    /// Makes a call and passes its result to a closure on the main actor.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - progress: Receives the number of bytes sent and received; ``TransferProgress/direction`` distinguishes them.
    ///     It isn't called after the completion.
    ///   - completion: Called exactly once.
    /// - Returns: A handle that can cancel the call or wait for its response. Releasing the handle doesn't cancel the
    ///   call.
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
            progress: progress.map { onMainActor($0) },
            completion: onMainActor(completion)
        )
    }

    /// Makes a call and passes its result to a closure on a queue.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue on which the closures are called.
    ///   - progress: Receives the number of bytes sent and received; ``TransferProgress/direction`` distinguishes them.
    ///     It isn't called after the completion.
    ///   - completion: Called exactly once.
    /// - Returns: A handle that can cancel the call or wait for its response. Releasing the handle doesn't cancel the
    ///   call.
    @discardableResult
    public func request(
        _ target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        start(
            target,
            options: options,
            on: queue,
            progress: progress,
            decoding: EnvelopeCheck(),
            completion: completion
        )
    }

    /// Makes a call, decodes the JSON of its response, and passes the value to a closure on the main actor.
    ///
    /// The value is decoded on another thread.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`, which means the
    ///     whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - progress: Receives the number of bytes sent and received; ``TransferProgress/direction`` distinguishes them.
    ///     It isn't called after the completion.
    ///   - completion: Called exactly once.
    /// - Returns: A handle that can cancel the call or wait for its response. Releasing the handle doesn't cancel the
    ///   call.
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
            decoding: .decodable(type, atKeyPath: keyPath),
            options: options,
            progress: progress,
            completion: completion
        )
    }

    /// Makes a call, decodes the JSON of its response, and passes the value to a closure on a queue.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`, which means the
    ///     whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue on which the closures are called.
    ///   - progress: Receives the number of bytes sent and received; ``TransferProgress/direction`` distinguishes them.
    ///     It isn't called after the completion.
    ///   - completion: Called exactly once.
    /// - Returns: A handle that can cancel the call or wait for its response. Releasing the handle doesn't cancel the
    ///   call.
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
        request(
            target,
            decoding: .decodable(type, atKeyPath: keyPath),
            options: options,
            on: queue,
            progress: progress,
            completion: completion
        )
    }

    /// Makes a call, makes a value of its response, and passes it to a closure on the main actor.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - decoding: Makes the value, on another thread.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - progress: Receives the number of bytes sent and received; ``TransferProgress/direction`` distinguishes them.
    ///     It isn't called after the completion.
    ///   - completion: Called exactly once.
    /// - Returns: A handle that can cancel the call or wait for its response. Releasing the handle doesn't cancel the
    ///   call.
    @discardableResult
    public func request<Value: Sendable>(
        _ target: Target,
        decoding: BodyDecoding<Value>,
        options: CallOptions = CallOptions(),
        progress: (@MainActor @Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @MainActor @Sendable (Result<Value, TargetKitError>) -> Void
    ) -> RequestHandle {
        request(
            target,
            decoding: decoding,
            options: options,
            on: .main,
            progress: progress.map { onMainActor($0) },
            completion: onMainActor(completion)
        )
    }

    /// Makes a call, makes a value of its response, and passes it to a closure on a queue.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - decoding: Makes the value, on another thread.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue on which the closures are called.
    ///   - progress: Receives the number of bytes sent and received; ``TransferProgress/direction`` distinguishes them.
    ///     It isn't called after the completion.
    ///   - completion: Called exactly once.
    /// - Returns: A handle that can cancel the call or wait for its response. Releasing the handle doesn't cancel the
    ///   call.
    @discardableResult
    public func request<Value: Sendable>(
        _ target: Target,
        decoding: BodyDecoding<Value>,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Value, TargetKitError>) -> Void
    ) -> RequestHandle {
        let value = DecodedValue(by: decoding)
        return start(target, options: options, on: queue, progress: progress, decoding: value) {
            completion(value.result(of: $0))
        }
    }
}

extension Provider where Target: TypedTarget {
    /// Makes a call and decodes the target's output type.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    /// - Throws: ``TargetKitError``, with stage `.decoding` and the response if the body can't be decoded.
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
    /// - Throws: ``TargetKitError``, like a call of a ``MultiTarget``.
    public func request(
        _ target: some TargetType,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Response {
        try await request(MultiTarget(target), options: options)
    }

    /// Makes a call of any target and decodes the target's output type.
    ///
    /// - Throws: ``TargetKitError``, with stage `.decoding` and the response if the body can't be decoded.
    public func request<Typed: TypedTarget>(
        _ target: Typed,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Typed.Output {
        try await request(MultiTarget(target), as: Typed.Output.self, atKeyPath: target.keyPath, options: options)
    }
}

/// Wraps a main-actor closure for a call on the main queue.
private func onMainActor<Value: Sendable>(
    _ body: @escaping @MainActor @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
    { value in MainActor.assumeIsolated { body(value) } }
}

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

// MARK: - Awaited and started calls

extension Provider {
    /// A call that its caller waits for. Cancelling the caller's task cancels the call.
    func response(
        of target: Target,
        _ options: CallOptions,
        _ decoding: (CallOptions) -> Call.Decoding?
    ) async -> Result<Response, TargetKitError> {
        let call = begin(target, options: options, isAwaited: true, decoding: decoding)
        let result = await withTaskCancellationHandler {
            if !call.hasOwnTask { return await run(call, target) }
            // Starting right here saves a change of thread.
            let task = Task.startingNow { await self.run(call, target) }
            call.handle.attach(task)
            return await task.value
        } onCancel: {
            call.handle.cancel()
        }
        end(call, result)
        return result
    }

    /// A call whose closures are called on a queue. All of it runs elsewhere: the caller may be the main thread.
    func start(
        _ target: Target,
        _ options: CallOptions,
        on queue: DispatchQueue?,
        _ progress: (@Sendable (TransferProgress) -> Void)?,
        _ decoding: (CallOptions) -> Call.Decoding?,
        _ completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        var isOver: Locked<Bool>?
        var progressOnQueue: (@Sendable (TransferProgress) -> Void)?
        if let progress {
            // A call can end while a step of a shared exchange is on its way to it.
            let isEnded = Locked(false)
            isOver = isEnded
            progressOnQueue = { step in
                isEnded.withLock { isEnded in if !isEnded { queue.run { progress(step) } } }
            }
        }
        let call = begin(target, options: options, progress: progressOnQueue, decoding: decoding)
        let task = Task { [isOver] in
            let result = await self.run(call, target)
            isOver?.withLock { $0 = true }
            self.end(call, result) {
                queue.run { completion(result) }
                call.handle.finish(result)
            }
        }
        call.handle.attach(task)
        return call.handle
    }

    func resolved(_ options: CallOptions, for target: Target) -> CallOptions {
        self.options.overridden(by: target.options).overridden(by: options)
    }

    /// Checks what the envelope says, if there is one.
    static func envelopeCheck(_ options: CallOptions) -> Call.Decoding? {
        guard let envelope = options.envelope else { return nil }
        return Call.Decoding { response throws(TargetKitError) in try response.unwrap(envelope) }
    }
}

/// The value that a call decodes from its response, inside the call's envelope if it has one.
struct DecodedValue<Value: Decodable & Sendable>: Sendable {
    let keyPath: String?
    private let value = Locked<Value?>(nil)

    init(keyPath: String?) {
        self.keyPath = keyPath
    }

    func decoding(_ options: CallOptions) -> Call.Decoding? {
        let (envelope, decoder) = (options.envelope, options.decoder)
        return Call.Decoding { [self] response throws(TargetKitError) in
            let decoded: Value
            if let envelope {
                decoded = try response.unwrap(Value.self, from: envelope, atKeyPath: keyPath, using: decoder)
            } else {
                decoded = try response.decode(Value.self, atKeyPath: keyPath, using: decoder)
            }
            value.withLock { $0 = decoded }
        }
    }

    /// The result of the call, with the value that was decoded last.
    func result(_ result: Result<Response, TargetKitError>) -> Result<Value, TargetKitError> {
        result.flatMap { response in
            guard let value = value.withLock({ $0 }) else {
                return .failure(TargetKitError(stage: .decoding, target: response.target, response: response))
            }
            return .success(value)
        }
    }
}

extension Optional<DispatchQueue> {
    /// Runs the work on the queue, or right here if there is none.
    fileprivate func run(_ work: @escaping @Sendable () -> Void) {
        guard let self else { return work() }
        self.async(execute: work)
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

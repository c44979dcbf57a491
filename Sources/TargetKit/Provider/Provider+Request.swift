// SPDX-License-Identifier: MIT
import Foundation

extension Provider {
    /// Makes a call and waits for its response.
    ///
    /// Cancelling the surrounding task cancels the call.
    ///
    /// - Throws: ``TargetKitError``; with the default validation no status code is an error.
    public func request(_ target: Target) async throws(TargetKitError) -> Response {
        try await response(of: target)
    }

    /// Makes a call that may take so long, and waits for its response.
    ///
    /// - Throws: ``TargetKitError``; of stage `.transport` with `URLError(.timedOut)` when it takes longer.
    public func request(_ target: Target, timeout: CallTimeout) async throws(TargetKitError) -> Response {
        try await response(of: target, timeout: timeout)
    }

    /// Makes a call and decodes the JSON of its response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: What to decode.
    ///   - keyPath: Where in the body the value lies, `data.user` for one; default `nil`: the whole body.
    ///   - decoder: Default `nil`: the target's, else the provider's.
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response in it, when the body is not such a value.
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil
    ) async throws(TargetKitError) -> Value {
        try await request(target, as: type, atKeyPath: keyPath, using: decoder, timeout: .none)
    }

    /// Makes a call that may take so long, and decodes the JSON of its response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: What to decode.
    ///   - keyPath: Where in the body the value lies, `data.user` for one; default `nil`: the whole body.
    ///   - decoder: Default `nil`: the target's, else the provider's.
    ///   - timeout: Goes before what target and provider say.
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response in it, when the body is not such a value.
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil,
        timeout: CallTimeout
    ) async throws(TargetKitError) -> Value {
        let decoder = self.decoder(decoder, for: target)
        return try await value(of: target, timeout: timeout) { response throws(TargetKitError) in
            try response.decode(type, atKeyPath: keyPath, using: decoder)
        }
    }

    /// Makes a call and hands its result to a closure.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - callbackQueue: Where the closures run; default `nil`: the provider's queue, which is the main queue unless told.
    ///   - progress: Is told how many bytes have gone out and come in, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call by, or to await its response. The call goes on without it.
    @discardableResult
    public func request(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        request(target, callbackQueue: callbackQueue, timeout: .none, progress: progress, completion: completion)
    }

    /// Makes a call that may take so long, and hands its result to a closure.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - callbackQueue: Where the closures run; default `nil`: the provider's queue, which is the main queue unless told.
    ///   - timeout: Goes before what target and provider say.
    ///   - progress: Is told how many bytes have gone out and come in, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call by, or to await its response. The call goes on without it.
    @discardableResult
    public func request(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil,
        timeout: CallTimeout,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        let queue = callbackQueue ?? self.callbackQueue
        guard let progress else {
            return start(target, timeout: timeout, from: Self.response) { result in queue.async { completion(result) } }
        }
        // A call can end while a step is on its way to it, one of a network call that it shares for one.
        let isOver = Locked(false)
        let progressOnQueue = { @Sendable (step: TransferProgress) in
            isOver.withLock { if !$0 { queue.async { progress(step) } } }
        }
        return start(target, timeout: timeout, progress: progressOnQueue, from: Self.response) { result in
            isOver.withLock { $0 = true }
            queue.async { completion(result) }
        }
    }
}

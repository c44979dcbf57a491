// SPDX-License-Identifier: MIT
import Foundation

extension Provider {
    /// Makes a call and waits for its response.
    ///
    /// Cancelling the surrounding task cancels the call.
    ///
    /// - Throws: ``TargetKitError``; with the default validation no status code is an error.
    public func request(_ target: Target) async throws(TargetKitError) -> Response {
        try await value(of: target, from: Self.response)
    }

    /// Makes a call and decodes the JSON of its response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: What to decode.
    ///   - keyPath: Where in the body the value lies, `data.user` for one; default `nil`: the whole body.
    ///   - decoder: Default: a plain `JSONDecoder`.
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response in it, when the body is not such a value.
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder()
    ) async throws(TargetKitError) -> Value {
        try await value(of: target) { response throws(TargetKitError) in
            try response.decode(type, atKeyPath: keyPath, using: decoder)
        }
    }

    /// Makes a call and hands its result to a closure.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - callbackQueue: Where the closures run; default `nil`: the main queue.
    ///   - progress: Is told how many bytes have gone out and come in, before the completion.
    ///   - completion: Is called exactly once.
    /// - Returns: A handle to cancel the call by. The call goes on without it.
    @discardableResult
    public func request(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
    ) -> RequestHandle {
        let queue = callbackQueue ?? .main
        let progressOnQueue = progress.map { progress in
            { @Sendable (step: TransferProgress) in queue.async { progress(step) } }
        }
        let handle = RequestHandle()
        start(target, handle, progress: progressOnQueue, value: Self.response) { result in
            queue.async { completion(result) }
        }
        return handle
    }

    private static func response(_ response: Response) throws(TargetKitError) -> Response { response }

    private func value<Value: Sendable>(
        of target: Target,
        from value: @escaping @Sendable (Response) throws(TargetKitError) -> Value
    ) async throws(TargetKitError) -> Value {
        let handle = RequestHandle()
        let result = await withTaskCancellationHandler {
            await start(target, handle, value: value).value
        } onCancel: {
            handle.cancel()
        }
        return try result.get()
    }

    /// Starts a call in a task of its own, which the scope knows until the call has ended: so the caller's task, the handle,
    /// the provider and the scope cancel it in the same way.
    @discardableResult
    private func start<Value: Sendable>(
        _ target: Target,
        _ handle: RequestHandle,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        value: @escaping @Sendable (Response) throws(TargetKitError) -> Value,
        completion: (@Sendable (Result<Value, TargetKitError>) -> Void)? = nil
    ) -> Task<Result<Value, TargetKitError>, Never> {
        let context = RequestContext(target: target, scope: scope)
        let call = Call(target: target, context: context, handle: handle, progress: progress)
        scope.insert(call.context, owner: self, handle: handle)
        let work = { @Sendable in
            let result = await self.result(of: call, value)
            self.scope.remove(call.context.id)
            completion?(result)
            return result
        }
        // A caller that waits is on no actor any more: starting right here saves a hop to another thread. A caller that does
        // not wait may be the main thread, whose time is not ours.
        let task = completion == nil ? Task.startingNow(work) : Task(operation: work)
        handle.attach(task)
        return task
    }

    private func result<Value: Sendable>(
        of call: Call,
        _ value: @Sendable (Response) throws(TargetKitError) -> Value
    ) async -> Result<Value, TargetKitError> {
        do throws(TargetKitError) {
            return cancelled(.success(try value(try await perform(call).get())), call)
        } catch {
            return cancelled(.failure(error), call)
        }
    }
}

// SPDX-License-Identifier: MIT

extension Provider {
    static func response(_ response: Response) throws(TargetKitError) -> Response { response }

    /// Makes a call whose value the caller waits for.
    func value<Value: Sendable>(
        of target: Target,
        timeout: CallTimeout = .none,
        from value: @escaping @Sendable (Response) throws(TargetKitError) -> Value
    ) async throws(TargetKitError) -> Value {
        let call = begin(target, timeout: timeout)
        let result = await withTaskCancellationHandler {
            // The caller is on no actor any more: starting right here saves a hop to another thread.
            let task = Task.startingNow {
                let result = await self.result(of: call, value)
                self.end(call)
                return result
            }
            call.handle.attach(task)
            return await task.value
        } onCancel: {
            call.handle.cancel()
        }
        return try result.get()
    }

    /// Makes a call whose value a closure gets. The caller may be the main thread, whose time is not ours: so all of it runs
    /// elsewhere. The value is made while the call still counts as running, so that cancelling reaches that too.
    func start<Value: Sendable>(
        _ target: Target,
        timeout: CallTimeout = .none,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        from value: @escaping @Sendable (Response) throws(TargetKitError) -> Value,
        completion: @escaping @Sendable (Result<Value, TargetKitError>) -> Void
    ) -> RequestHandle {
        let call = begin(target, timeout: timeout, progress: progress)
        call.handle.attach(
            Task {
                let result = await self.result(of: call) { response throws(TargetKitError) in
                    ResponseValue(value: try value(response), response: response)
                }
                self.end(call) {
                    completion(result.map(\.value))
                    call.handle.finish(result.map(\.response))
                }
            }
        )
        return call.handle
    }

    /// A new call. Its scope knows it until its end: so the caller's task, the handle, the provider and the scope cancel it
    /// in the same way.
    func begin(
        _ target: Target,
        timeout: CallTimeout = .none,
        delivery: Call.Delivery = .response,
        adding headers: HTTPHeaders = [:],
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> Call {
        let context = RequestContext(target: target, scope: scope)
        let handle = RequestHandle()
        let ofTarget = (context.target as? any TimedTarget)?.callTimeout ?? .none
        let plan = Call.Plan(
            target: target,
            timeout: timeout.or(ofTarget).or(self.timeout),
            exchangeOfCall: timeout.exchange,
            delivery: delivery,
            headers: headers,
            hooks: plugins.hooks,
            isAccepted: scope.insert(context, owner: self, handle: handle)
        )
        return Call(plan: plan, context: context, handle: handle, progress: progress)
    }

    func end(_ call: Call, _ completion: (() -> Void)? = nil) {
        if call.plan.isAccepted {
            scope.remove(call.context.id, completion)
        } else {
            completion?()
        }
    }

    /// The call's result, within the time that it has in all.
    func result<Value: Sendable>(
        of call: Call,
        _ value: @Sendable (Response) throws(TargetKitError) -> Value
    ) async -> Result<Value, TargetKitError> {
        let deadline = deadline(of: call)
        defer { deadline?.cancel() }
        do throws(TargetKitError) {
            return interrupted(.success(try value(try await perform(call).get())), call)
        } catch {
            return interrupted(.failure(error), call)
        }
    }

    /// Ends the call when its time is over, unless it is cancelled before.
    func deadline(of call: Call) -> Task<Void, Never>? {
        guard let limit = call.plan.timeout.wholeCall, limit > .zero else { return nil }
        return Task { [clock] in
            do {
                try await clock.sleep(for: limit)
                call.handle.interrupt(.timedOut)
            } catch {
                // Cancelled: the call was quicker.
            }
        }
    }
}

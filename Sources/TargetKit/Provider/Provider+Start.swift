// SPDX-License-Identifier: MIT

extension Provider {
    static func response(_ response: Response) throws(TargetKitError) -> Response { response }

    /// Makes a call whose response the caller waits for.
    func response(of target: Target, timeout: CallTimeout = .none) async throws(TargetKitError) -> Response {
        try await awaited(target, timeout) { $0 }.get()
    }

    /// Makes a call whose value the caller waits for.
    func value<Value: Sendable>(
        of target: Target,
        timeout: CallTimeout = .none,
        from value: (Response) throws(TargetKitError) -> Value
    ) async throws(TargetKitError) -> Value {
        try await awaited(target, timeout) { response in
            Result { () throws(TargetKitError) in try value(try response.get()) }
        }.get()
    }

    /// Becomes a part of its caller, so that a response is not handed on as a value of any type.
    @inline(__always)
    private func awaited<Value: Sendable>(
        _ target: Target,
        _ timeout: CallTimeout,
        _ value: (Result<Response, TargetKitError>) -> Result<Value, TargetKitError>
    ) async -> Result<Value, TargetKitError> {
        let call = begin(target, timeout: timeout, isAwaited: true)
        let deadline = deadline(of: call)
        let response = await pipeline.response(to: call, aim(of: call, target))
        // The call is under way until its value is made, so cancelling and its time reach that too.
        let result = value(response)
        // Up to here the handle was told when the caller's task was cancelled. Now the time may have been over first.
        if Task.isCancelled { call.handle.cancel() }
        deadline?.cancel()
        defer { end(call) }
        return call.end(with: result)
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
                let deadline = self.deadline(of: call)
                let response = await self.pipeline.perform(call, self.aim(of: call, target))
                let result = call.end(
                    with: Result { () throws(TargetKitError) in
                        let response = try response.get()
                        return ResponseValue(value: try value(response), response: response)
                    }
                )
                deadline?.cancel()
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
        delivery: ProviderCall.Delivery = .response,
        adding headers: HTTPHeaders = [:],
        isAwaited: Bool = false,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> ProviderCall {
        let context = RequestContext(of: traits.canHoldAnother ? target.innermost : target, scope: scope)
        let handle = RequestHandle()
        let ofTarget = traits.canBeTimed ? (context.target as? any TimedTarget)?.callTimeout ?? .none : .none
        let isShared = !delivery.isStream && sharing.shares(context.target, traits)
        let plan = ProviderCall.Plan(
            timeout: timeout.or(ofTarget).or(self.timeout),
            exchangeOfCall: timeout.exchange,
            delivery: delivery,
            headers: headers,
            hooks: pipeline.plugins.hooks,
            isAccepted: scope.insert(context, owner: self, handle: handle),
            isShared: isShared,
            canMapErrors: traits.canMapErrors,
            runsInCallersTask: isAwaited && !isShared && pipeline.interruptibleTransport != nil
        )
        return ProviderCall(plan: plan, context: context, handle: handle, progress: progress)
    }

    func end(_ call: ProviderCall, _ completion: (() -> Void)? = nil) {
        if call.plan.isAccepted {
            scope.remove(call.context.id, completion)
        } else {
            completion?()
        }
    }

    func aim(of call: ProviderCall, _ target: Target) -> Result<Pipeline.Aim, TargetKitError> {
        pipeline.aim(of: call) {
            Pipeline.Aim(endpoint: try endpointClosure(target), stub: stubClosure(target))
        }
    }

    /// Ends the call when its time is over, unless it is cancelled before.
    func deadline(of call: ProviderCall) -> Task<Void, Never>? {
        guard let limit = call.plan.timeout.wholeCall, limit > .zero else { return nil }
        return Task { [clock = pipeline.clock] in
            do {
                try await clock.wait(for: limit)
                call.handle.interrupt(.timedOut)
            } catch {
                // Cancelled: the call was quicker.
            }
        }
    }
}

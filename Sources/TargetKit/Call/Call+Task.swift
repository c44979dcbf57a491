// SPDX-License-Identifier: MIT

extension Call {
    /// The reason why the call was interrupted; `nil` if it wasn't, or only after its file was in place.
    var interruption: RequestHandle.Interruption? {
        // The cancellation of a caller's task also interrupts the handle.
        let interruption = handle.interruption ?? (Task.isCancelled ? .cancelled : nil)
        return interruption == nil || handle.isCommitted ? nil : interruption
    }

    /// Runs a hook of the plugins. A test clock tracks whether it waits.
    @inline(__always)
    func hook<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let clock = configuration.countingClock else { return try await work() }
        return try await trackedByTestClock(hook: { await Result.of(work) }, on: clock).get()
    }

    /// Starts the call's task, and attaches it to the handle.
    ///
    /// - Parameter isImmediate: Whether it starts on the caller's thread, which saves a thread hop.
    @discardableResult
    func startTask<Value: Sendable>(
        isImmediate: Bool = true,
        _ work: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let task: Task<Value, Never>
        if configuration.countingClock == nil {
            task = Self.newTask(isImmediate: isImmediate, work)
        } else {
            task = RequestContext.$callsOfTask.withValue(RequestContext.callsOfTask + [context.id]) {
                Self.newTask(isImmediate: isImmediate, work)
            }
        }
        handle.attach(task)
        return task
    }

    private static func newTask<Value: Sendable>(
        isImmediate: Bool,
        _ work: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        isImmediate ? Task.startingNow(work) : Task(operation: work)
    }

    /// Starts a task that interrupts the call at its timeout; `nil` without one.
    func startTimer() -> Task<Void, Never>? {
        guard let deadline = handle.deadline else { return nil }
        return Task { [clock = configuration.clock, handle, timer = timer()] in
            defer { timer.end() }
            do {
                try await timer.run {
                    try await deadline.wait(on: clock)
                    try Task.checkCancellation()
                }
                handle.interrupt(.timedOut)
            } catch {
                // The task was cancelled because the call ended.
            }
        }
    }

    func checkInterruption() throws {
        if interruption != nil { throw CancellationError() }
    }

    /// Returns the result, or the interruption if the call was interrupted first. A cached response is returned even
    /// after the timeout.
    @inline(never)
    func unlessInterrupted(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        // A call that its scope rejects already failed, and plugins may change its error.
        guard let interruption, interruption != .shutDown, interruption == .cancelled || !result.isCached else {
            return result
        }
        let error =
            if case .failure(let error) = result { error } else {
                TargetKitError(stage: .cancelled, target: context.target, underlying: CancellationError())
            }
        return .failure(error.interrupted(by: interruption, in: context))
    }

    /// Returns the error of a failed stage, or the interruption if the call was interrupted.
    @inline(never)
    func failure(_ error: any Error, at stage: TargetKitError.Stage, request: URLRequest? = nil) -> TargetKitError {
        let failure = TargetKitError(error, at: stage, target: context.target, request: request)
        return interruption.map { failure.interrupted(by: $0, in: context) } ?? failure
    }
}

extension Result<Response, TargetKitError> {
    var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// Whether the response is from a cache, without contacting the server.
    fileprivate var isCached: Bool {
        if case .success(let response) = self { response.origin.isCache } else { false }
    }
}

extension TargetKitError {
    /// This error, with the stage and cause of the interruption.
    fileprivate func interrupted(
        by interruption: RequestHandle.Interruption,
        in context: RequestContext
    ) -> TargetKitError {
        var error = self
        switch interruption {
        case .cancelled:
            if stage != .cancelled { error.stage = .cancelled }
            if appError != nil { error.appError = nil }
        case .shutDown:
            if stage == .cancelled { error = TargetKitError(stage: .shutDown, target: target) }
        case .timedOut:
            error.stage = .transport
            if (underlying as? URLError)?.code != .timedOut {
                error.underlying = ExceededLimit.wholeCall(context.options.timeout.wholeCall).error
                error.appError = nil
            }
        }
        return error
    }
}

extension Call {
    /// Notes whether the server may have processed a request that must not be sent twice. It can't have if it redirects
    /// the unchanged request (RFC 9110 §15.4.8 and §15.4.9), or rejects the request (4xx, apart from the statuses that
    /// can be temporary).
    func noteProcessing(of request: TransportRequest, status: Int) {
        if !request.urlRequest.isRepeatable(), !Self.isUnprocessed(status) { handle.noteProcessing() }
    }

    /// Notes the same after a failure. The server can't have processed the request if no connection to the request's
    /// URL was made.
    func noteProcessing(of request: TransportRequest, failure error: any Error) {
        if request.urlRequest.isRepeatable() { return }
        let isUnsent = (error as? URLError).map {
            $0.code.isUnsent && !$0.isElsewhere(than: request.urlRequest.url)
        }
        if isUnsent != true { handle.noteProcessing() }
    }

    /// Records in the error of a failed call whether the call may be made again.
    func notingRepeatability(of result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        guard case .failure(var error) = result else { return result }
        let (isContinuable, processedCount) = handle.state.withLock { ($0.isContinuable, $0.processedCount) }
        var count = processedCount
        // The server rejected the credential in the body, so it didn't process the request.
        if count > 0, error.kind == .unauthorized, let response = error.response,
            !Self.isUnprocessed(response.statusCode), response.request?.isRepeatable() == false
        {
            count -= 1
        }
        error.mark(.safeToRepeat, count == 0 || isContinuable)
        return .failure(error)
    }

    /// Whether a server that responds with the status hasn't processed the request.
    private static func isUnprocessed(_ status: Int) -> Bool {
        switch status {
        case 307, 308: true
        case 400...499: !RetryAfter.statuses.contains(status)
        default: false
        }
    }
}

extension Call {
    /// Announces a task that limits the time of the call.
    func timer() -> CallTimer { CallTimer(of: context.id, on: configuration.countingClock) }

    /// Runs work that waits for something other than a ``CallCountingClock``.
    func waiting<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        guard let clock = configuration.countingClock else { return try await work() }
        clock.setWaiting(true, call: context.id)
        defer { clock.setWaiting(false, call: context.id) }
        return try await work()
    }

    /// Runs a plugin's hook. It counts as active until it first suspends, if the system reports that, and then as
    /// waiting for something other than the clock. One copy of the code for all values takes 3 KB less.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func trackedByTestClock<Value: Sendable>(
        hook: @escaping @Sendable () async -> Value,
        on clock: any CallCountingClock
    ) async -> Value {
        let call = context.id
        let task = clock.startHook(of: call) {
            Task.startingNow {
                defer { clock.setWaiting(false, call: call) }
                return await hook()
            }
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

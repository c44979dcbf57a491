// SPDX-License-Identifier: MIT

extension Call {
    /// The reason why the call was interrupted; `nil` if it wasn't, or only after its file was in place.
    var interruption: RequestHandle.Interruption? {
        // The cancellation of a caller's task also interrupts the handle.
        let interruption = handle.interruption ?? (Task.isCancelled ? .cancelled : nil)
        return interruption == nil || handle.isCommitted ? nil : interruption
    }

    /// Runs a hook of the plugins. A test clock tracks whether it waits.
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
        let task = withTestClock { isImmediate ? Task.startingNow(work) : Task(operation: work) }
        handle.attach(task)
        return task
    }

    /// Starts a task that interrupts the call at its timeout; `nil` without one.
    func startTimeout() -> Task<Void, Never>? {
        guard let limit = context.options.timeout.wholeCall, limit > .zero else { return nil }
        return Task { [clock = configuration.clock, handle, timer = timer()] in
            defer { timer.end() }
            do {
                try await timer.run {
                    var deadline: Deadline?
                    repeat {
                        deadline = handle.deadline
                        // This task may start late.
                        try await clock.wait(for: deadline?.remainingTime ?? .zero)
                        await handle.waitWhilePaused()
                        // The time during a pause isn't counted.
                    } while deadline !== handle.deadline
                    try Task.checkCancellation()
                }
                handle.interrupt(.timedOut)
            } catch {
                // The task was cancelled because the call ended.
            }
        }
    }

    func checkCancellation() throws {
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
        guard case .failure(let error) = result else {
            let error = TargetKitError(stage: .cancelled, target: context.target, underlying: CancellationError())
            return .failure(error.interrupted(by: interruption, in: context))
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

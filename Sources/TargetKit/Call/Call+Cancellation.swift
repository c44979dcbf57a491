// SPDX-License-Identifier: MIT

extension Call {
    /// The reason why the call was interrupted; `nil` if it wasn't, or only after its file was in place.
    var interruption: RequestHandle.Interruption? {
        // The cancellation of a caller's task also interrupts the handle.
        let interruption = handle.interruption ?? (hasOwnTask && Task.isCancelled ? .cancelled : nil)
        return interruption == nil || handle.isCommitted ? nil : interruption
    }

    /// Runs work that is cancelled with the call. A hook in which no plugin waits needs no task.
    func cancellable<Value: Sendable, Failure: Error>(
        in hook: PluginHooks? = nil,
        work: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if hook != nil, let clock = configuration.countingClock {
            return try await trackedByTestClock(hook: { await Result.of(work) }, on: clock).get()
        }
        guard needsTask(in: hook) else { return try await work() }
        return try await context.cancellable(work)
    }

    private func needsTask(in hook: PluginHooks?) -> Bool {
        !hasOwnTask && hook.map(plugins.waitingHooks.contains) ?? true
    }

    /// Whether ``cancellable(in:work:)`` only calls the work in this hook, so that no closure is needed.
    func isDirect(_ hook: PluginHooks) -> Bool { configuration.countingClock == nil && !needsTask(in: hook) }

    func checkCancellation() throws {
        if interruption != nil { throw CancellationError() }
    }

    /// Returns the result, or the interruption if the call was interrupted first. A cached response is returned even
    /// after the timeout.
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
    func failure(_ error: any Error, at stage: TargetKitError.Stage, request: URLRequest? = nil) -> TargetKitError {
        let failure = TargetKitError(error, at: stage, target: context.target, request: request)
        return interruption.map { failure.interrupted(by: $0, in: context) } ?? failure
    }
}

extension Result<Response, TargetKitError> {
    var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// Whether a plugin's `exchange` ended the call.
    var isEndedByPlugin: Bool {
        if case .failure(let error) = self { error.isOfPlugin } else { false }
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

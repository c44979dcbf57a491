// SPDX-License-Identifier: MIT

extension RequestHandle {
    struct Pause: Sendable {
        /// Whether pausing the call has an effect; `nil` until this is known.
        var isPossible: Bool?
        var isPaused = false
        /// The number of times that the call was paused.
        var count = 0
        /// Cancels the exchange in progress.
        var cancelExchange: (@Sendable () -> Void)?
        /// The time until the deadline when the call was paused.
        var remainingTime: Duration?
        /// The tasks that wait until the call is resumed or ends.
        var waiters: [UnsafeContinuation<Void, Never>] = []

        /// Whether the call is waiting, or will wait before its next exchange.
        var isWaiting: Bool { isPaused && isPossible == true }
    }

    /// Pauses a resumable download or upload of TargetKitTransfers. Ends its exchange and retains the transferred data
    /// until ``resume()``.
    ///
    /// Plugins see a cancelled exchange. While the call is paused, the limit of ``CallTimeout/wholeCall(_:)`` doesn't
    /// expire. A paused call remains in its scope until it is resumed or cancelled, even if its handle is released;
    /// ``Provider/cancelAll()`` and a shutdown of the scope cancel it.
    ///
    /// Has no effect on other calls, on transfers that can't be continued, on calls that share their exchange, and on
    /// calls that ended.
    public func pause() {
        let remainingTime = deadline?.remainingTime
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            var pause = state.pause?.value ?? Pause()
            guard !pause.isPaused, pause.isPossible != false, state.outcome == nil, state.interruption == nil else {
                return nil
            }
            pause.isPaused = true
            pause.count += 1
            pause.remainingTime = remainingTime
            state.pause = Boxed(pause)
            return pause.isPossible == true ? pause.cancelExchange : nil
        }
        cancel?()
    }

    /// Continues a paused transfer with a new exchange. Has no effect on a call that isn't paused.
    public func resume() {
        let deadline = deadline
        let waiters = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            guard var pause = state.pause?.value, pause.isPaused else { return [] }
            pause.isPaused = false
            if pause.isPossible == true, let remainingTime = pause.remainingTime {
                state.deadline = deadline?.restarted(in: remainingTime)
            }
            defer {
                pause.waiters = []
                state.pause = Boxed(pause)
            }
            return pause.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Sets whether pausing has an effect from now on. If `false`, ends a pause.
    func setPausing(isPossible: Bool) {
        let waiters = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            guard state.outcome == nil else { return [] }
            var pause = state.pause?.value ?? Pause()
            pause.isPossible = isPossible
            defer { state.pause = Boxed(pause) }
            guard !isPossible else { return [] }
            pause.isPaused = false
            defer { pause.waiters = [] }
            return pause.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The number of times that the call was paused.
    var pauseCount: Int {
        state.withLock { state in
            guard let pause = state.pause?.value, pause.isPossible == true else { return 0 }
            return pause.count
        }
    }

    /// Waits until the call is resumed or interrupted, or ends. Returns the number of times that it was paused.
    @discardableResult
    func waitWhilePaused() async -> Int {
        while true {
            var count: Int?
            await withUnsafeContinuation { waiter in
                count = state.withLock { state in
                    guard state.pause?.value.isWaiting == true, state.interruption == nil, state.outcome == nil else {
                        return state.pause?.value.count ?? 0
                    }
                    state.pause?.value.waiters.append(waiter)
                    return nil
                }
                if count != nil { waiter.resume() }
            }
            if let count { return count }
        }
    }

    /// Runs an exchange that ``pause()`` cancels. The surrounding task cancels it as well.
    func runUntilPaused<Value: Sendable>(_ exchange: @escaping @Sendable () async -> Value) async -> Value {
        let pauseCount = pauseCount
        let task = Task.startingNow(exchange)
        let wasPaused = state.withLock { state in
            var pause = state.pause?.value ?? Pause()
            pause.cancelExchange = { task.cancel() }
            state.pause = Boxed(pause)
            // A call that was paused since the exchange started may already be resumed.
            return pause.isWaiting || pause.isPossible == true && pause.count > pauseCount
        }
        if wasPaused { task.cancel() }
        let value = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.pause?.value.cancelExchange = nil }
        return value
    }
}

extension Call {
    /// Runs an exchange that is cancelled when the call is paused. Only a call with its own task has a handle for the
    /// app.
    func pausable(
        _ exchange: @escaping @Sendable () async throws -> ExchangeResult
    ) async throws -> ExchangeResult {
        guard hasOwnTask else { return try await exchange() }
        return try await handle.runUntilPaused { await Result.of(exchange) }.get()
    }
}

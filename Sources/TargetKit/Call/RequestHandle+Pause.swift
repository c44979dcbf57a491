// SPDX-License-Identifier: MIT

extension RequestHandle {
    struct Pause: Sendable {
        var isPaused = false
        /// The number of times that the call was paused.
        var count = 0
        /// Cancels the exchange in progress.
        var cancelExchange: (@Sendable () -> Void)?
        /// The time until the deadline when the call was paused.
        var remainingTime: Duration?
        /// Wait until the call is resumed or ends.
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    /// Pauses a download whose destination is ``DownloadDestination/resumable``: ends its exchange and keeps what has
    /// arrived, until ``resume()``. Has no effect on other calls, on a call that shares its exchange, and on one that has
    /// ended.
    ///
    /// Plugins receive the exchange as a cancelled one. While the call is paused, the limit of
    /// ``CallTimeout/wholeCall(_:)`` does not expire.
    public func pause() {
        let remainingTime = deadline?.remainingTime
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            var pause = state.pause?.value ?? Pause()
            guard !pause.isPaused, state.outcome == nil, state.interruption == nil else { return nil }
            pause.isPaused = true
            pause.count += 1
            pause.remainingTime = remainingTime
            defer {
                pause.cancelExchange = nil
                state.pause = Boxed(pause)
            }
            return pause.cancelExchange
        }
        cancel?()
    }

    /// Continues a paused download with a new exchange. Has no effect on a call that is not paused.
    public func resume() {
        let deadline = deadline
        let waiters = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            guard var pause = state.pause?.value, pause.isPaused else { return [] }
            pause.isPaused = false
            if let remainingTime = pause.remainingTime { state.deadline = deadline?.restarted(in: remainingTime) }
            defer {
                pause.waiters = []
                state.pause = Boxed(pause)
            }
            return pause.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The number of times that the call was paused.
    var pauseCount: Int { state.withLock { $0.pause?.value.count ?? 0 } }

    /// Waits until the call is resumed, interrupted, or ends.
    func waitWhilePaused() async {
        await withUnsafeContinuation { waiter in
            let isWaiting = state.withLock { state in
                guard state.pause?.value.isPaused == true, state.interruption == nil, state.outcome == nil else {
                    return false
                }
                state.pause?.value.waiters.append(waiter)
                return true
            }
            if !isWaiting { waiter.resume() }
        }
    }

    /// Runs an exchange that ``pause()`` cancels. The surrounding task cancels it as well.
    func runUntilPaused<Value: Sendable>(_ exchange: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task.startingNow(exchange)
        let isPaused = state.withLock { state in
            var pause = state.pause?.value ?? Pause()
            pause.cancelExchange = { task.cancel() }
            state.pause = Boxed(pause)
            return pause.isPaused
        }
        if isPaused { task.cancel() }
        let value = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.pause?.value.cancelExchange = nil }
        return value
    }
}

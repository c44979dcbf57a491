// SPDX-License-Identifier: MIT

extension RequestHandle {
    /// The caller's pause of a call.
    struct Pause: Sendable {
        var isPaused = false
        /// Ends the driver's requests; `nil` if pausing has no effect.
        var action: (@Sendable () -> Void)?
        /// Whether the call waits, or will wait before its next request.
        var isEffective: Bool { isPaused && action != nil }
        /// The time until the deadline when the call was paused.
        var remainingTime: Duration?
        /// End the waits for the resumption.
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    /// Pauses a resumable download or upload of TargetKitTransfers. Ends its exchange and retains the transferred data
    /// until ``resume()``.
    ///
    /// Plugins see a cancelled exchange. While the call is paused, the limit of ``CallTimeout/wholeCall(_:)`` doesn't
    /// expire. A paused call remains in its scope until it is resumed or cancelled, even if its handle is released;
    /// ``Provider/cancelAll()`` and a shutdown of the scope cancel it.
    ///
    /// A request that can't be continued isn't ended; the call pauses before the next one that can. Has no effect on
    /// other calls, on calls that share their exchange, and on calls that ended.
    public func pause() {
        changePause { $0.isPaused = true }
    }

    /// Continues a paused transfer with a new exchange. Has no effect on a call that isn't paused.
    public func resume() {
        changePause { $0.isPaused = false }
    }

    /// Changes the pause. If it takes effect, ends the driver's requests; if it ends, ends the waits for that.
    func changePause(_ change: (inout Pause) -> Void) {
        let deadline = deadline
        let remainingTime = deadline?.remainingTime
        let effect = state.withLock { state -> (@Sendable () -> Void)? in
            var pause = state.pause?.value ?? Pause()
            let wasEffective = pause.isEffective
            change(&pause)
            defer { state.pause = Boxed(pause) }
            if pause.isEffective == wasEffective { return nil }
            if pause.isEffective {
                pause.remainingTime = remainingTime
                return pause.action
            }
            if let remainingTime = pause.remainingTime { state.deadline = deadline?.restarted(in: remainingTime) }
            let waiters = pause.waiters
            pause.waiters = []
            return { for waiter in waiters { waiter.finish() } }
        }
        effect?()
    }

    /// Waits until the call isn't paused, or the task is cancelled.
    func waitWhilePaused() async {
        let resumption = state.withLock { state -> AsyncStream<Never>? in
            guard state.pause?.value.isEffective == true else { return nil }
            let (resumption, waiter) = AsyncStream<Never>.makeStream()
            state.pause?.value.waiters.append(waiter)
            return resumption
        }
        if let resumption { for await _ in resumption {} }
    }
}

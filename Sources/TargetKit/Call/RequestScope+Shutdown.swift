// SPDX-License-Identifier: MIT

extension RequestScope {
    /// The number of calls in flight: the present one at once, then each that it changes to. A reader that is slower than the
    /// changes sees the newest.
    ///
    /// ```swift
    /// for await count in scope.inFlightCounts { spinner.isHidden = count == 0 }
    /// ```
    public var inFlightCounts: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                let number = state.nextNumber()
                state.counters[number] = continuation
                continuation.yield(state.calls.count)
                return number
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.counters.removeValue(forKey: number) }
            }
        }
    }

    /// Whether new calls are refused, by this scope or by one above.
    public var isShutDown: Bool { state.withLock(\.isShutDown) || parent?.isShutDown == true }

    /// Ends the work of this scope, for the end of the program or of a session.
    ///
    /// From now on new calls fail with stage `.shutDown`. Those in flight may finish for the time of grace; then they are
    /// cancelled, and this returns when none is left: each has had its plugins' hooks and its completion has been handed to
    /// its queue. Cancelling the task that waits ends the time of grace. A plugin's hook must not wait for it: its own call is
    /// among those that are waited for.
    ///
    /// ```swift
    /// await session.shutdown(grace: .seconds(3))
    /// ```
    ///
    /// - Parameter grace: How long calls may go on; zero cancels them at once.
    public func shutdown(grace: Duration) async {
        state.withLock { $0.isShutDown = true }
        if grace > .zero, !state.withLock(\.isIdle) { await waitUntilIdle(atMost: grace) }
        cancelAll()
        await waitUntilIdle()
    }

    /// Takes new calls again, after a ``shutdown(grace:)``.
    public func reopen() {
        state.withLock { $0.isShutDown = false }
    }

    private func waitUntilIdle(atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitUntilIdle(endsWhenCancelled: true) }
            group.addTask { try? await self.clock.wait(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitUntilIdle(endsWhenCancelled: Bool = false) async {
        let number = state.withLock { $0.nextNumber() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.isIdle || endsWhenCancelled && Task.isCancelled { return true }
                    state.waiters[number] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            if endsWhenCancelled { state.withLock { $0.waiters.removeValue(forKey: number) }?.resume() }
        }
    }

    /// Changes the state, and wakes those that wait for the last call's end if that was it.
    func settle(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            change(&state)
            guard state.isIdle, !state.waiters.isEmpty else { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension RequestScope.State {
    mutating func removeCall(_ id: RequestContext.ID) {
        calls[id] = nil
        countHasChanged()
    }

    /// Under the lock, so that the counts come in their order; a stream's `yield` calls nobody back.
    func countHasChanged() {
        if counters.isEmpty { return }
        for counter in counters.values { counter.yield(calls.count) }
    }
}

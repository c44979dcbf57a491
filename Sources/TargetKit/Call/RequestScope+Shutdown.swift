// SPDX-License-Identifier: MIT

extension RequestScope {
    /// The calls that wait for a handler that the current task runs, so that the handler can shut down their scope.
    @TaskLocal package static var callsOfHandler: Set<RequestContext.ID> = []

    /// The number of calls in flight, starting with the current count. A slow reader receives only the latest count.
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

    /// Whether this scope or one of its ancestors rejects new calls.
    public var isShutDown: Bool { state.withLock(\.isShutDown) || parent?.isShutDown == true }

    /// Shuts down the scope, for example at the end of a session or before the program exits.
    ///
    /// From now on, new calls fail with stage `.shutDown`. Calls in flight can finish within the grace period and are
    /// then cancelled. WebSockets are closed immediately, with the grace period for their closing handshakes. The
    /// method returns when no call is left, all plugin hooks ran, and every completion was submitted to its queue.
    /// Cancelling the waiting task ends the grace period.
    ///
    /// Within the sign-out handler of a plugin, the method neither cancels nor waits for the call that called the
    /// handler. Don't call it from any other plugin hook, because it would wait for its own call.
    ///
    /// ```swift
    /// await session.shutdown(grace: .seconds(3))
    /// ```
    ///
    /// - Parameter grace: How long calls in flight can continue. Zero cancels them immediately.
    public func shutdown(grace: Duration) async {
        state.withLock { $0.isShutDown = true }
        let excluded = Self.callsOfHandler
        for entry in state.withLock({ Array($0.entries.values) }) { entry.onShutdown() }
        if grace > .zero, !state.withLock({ $0.isIdle(apartFrom: excluded) }) { await waitUntilIdle(atMost: grace) }
        cancelAll { !excluded.contains($0.id) }
        await waitUntilIdle()
    }

    /// Accepts new calls again after ``shutdown(grace:)``.
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
        let excluded = Self.callsOfHandler
        let number = state.withLock { $0.nextNumber() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.isIdle(apartFrom: excluded) || endsWhenCancelled && Task.isCancelled { return true }
                    state.waiters[number] = Waiter(continuation: waiter, excluded: excluded)
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            if endsWhenCancelled { state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume() }
        }
    }
}

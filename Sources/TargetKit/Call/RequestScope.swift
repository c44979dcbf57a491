// SPDX-License-Identifier: MIT

/// A group of calls of one or more providers, for example of an app, a session or a screen.
///
/// ```swift
/// let session = RequestScope()
/// let catalog = Provider<Catalog>(scope: session)
/// let orders = Provider<Orders>(scope: RequestScope(parent: session))
/// session.cancelAll()                              // both
/// ```
///
/// A call belongs to its provider's scope and to every ancestor of that scope. Each of them counts it and can cancel
/// it.
public final class RequestScope: Sendable {
    struct Call: Sendable {
        let context: RequestContext
        let owner: ObjectIdentifier
        let handle: RequestHandle
    }

    /// A task that waits until no call is left.
    struct Waiter: Sendable {
        let continuation: UnsafeContinuation<Void, Never>
        /// The calls that it doesn't wait for, because they wait for it.
        let excluded: Set<RequestContext.ID>
    }

    struct State: Sendable {
        var calls: [RequestContext.ID: Call] = [:]
        /// What calls left, such as open connections.
        var entries: [RequestContext.ID: ScopeEntry.Kept] = [:]
        /// The number of shared exchanges in flight, and of ended calls whose completion isn't submitted yet.
        var pendingCount = 0
        var isShutDown = false
        var counters: [UInt64: AsyncStream<Int>.Continuation] = [:]
        var waiters: [UInt64: Waiter] = [:]
        var lastNumber: UInt64 = 0

        /// Whether ``RequestScope/shutdown(grace:)`` waits only for these calls.
        func isIdle(apartFrom ids: Set<RequestContext.ID>) -> Bool {
            pendingCount == 0 && calls.count <= ids.count && calls.keys.allSatisfy(ids.contains)
                && entries.keys.allSatisfy(ids.contains)
        }

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// The parent scope, or `nil` if there is none.
    public let parent: RequestScope?
    /// This scope, or its ancestor without a parent.
    package var outermost: RequestScope { parent?.outermost ?? self }
    let clock: any Clock<Duration>
    let state = Locked(State())

    /// Creates a scope without calls.
    ///
    /// - Parameters:
    ///   - parent: The parent scope, for example the session's scope for a screen; default `nil`. Cancelling or
    ///     shutting down the parent also affects the calls of this scope.
    ///   - clock: Measures the grace period of ``shutdown(grace:)``; default: the clock of the parent, or else the
    ///     continuous clock.
    public init(parent: RequestScope? = nil, clock: (any Clock<Duration>)? = nil) {
        self.parent = parent
        self.clock = clock ?? parent?.clock ?? ContinuousClock()
    }

    deinit {
        // Otherwise, a reader of the counts would wait forever.
        for counter in state.withLock(\.counters).values { counter.finish() }
    }

    /// The number of calls in flight, including calls of child scopes.
    public var inFlightCount: Int { state.withLock(\.calls.count) }

    /// Cancels every call in flight, without waiting for it to end. Each call fails with stage `.cancelled`.
    ///
    /// Within the sign-out handler of a plugin, the method doesn't cancel the call that called the handler.
    public func cancelAll() {
        cancel { _ in true }
    }

    /// Cancels every call in flight for which the closure returns `true`.
    ///
    /// - Parameter isMeant: Receives the context of each call's first attempt.
    public func cancelAll(where isMeant: (RequestContext) -> Bool) {
        cancel { isMeant($0.context) }
    }

    /// Cancels every call in flight of one target type.
    public func cancelAll<Target: TargetType>(of type: Target.Type) {
        cancel { $0.context.target is Target }
    }

    /// Cancels the calls of one provider.
    func cancelAll(ownedBy owner: AnyObject) {
        cancel { $0.owner == ObjectIdentifier(owner) }
    }

    private func cancel(where isMeant: (Call) -> Bool) {
        let (calls, entries) = state.withLock { (Array($0.calls.values), Array($0.entries.values)) }
        let excluded = Self.callsOfHandler
        for call in calls where !excluded.contains(call.context.id) && isMeant(call) { call.handle.cancel() }
        for entry in entries where isMeant(entry.call) { entry.onCancel() }
    }

    /// Adds a call to this scope and its ancestors. Returns `false` if one of them is shut down.
    func insert(_ context: RequestContext, owner: AnyObject, handle: RequestHandle) -> Bool {
        if let parent, !parent.insert(context, owner: owner, handle: handle) { return false }
        let call = Call(context: context, owner: ObjectIdentifier(owner), handle: handle)
        let isTaken = state.withLock { state in
            guard !state.isShutDown else { return false }
            state.calls[context.id] = call
            state.countHasChanged()
            return true
        }
        if !isTaken { parent?.remove(context.id) }
        return isTaken
    }

    /// Removes a call that ended from this scope and its ancestors.
    func remove(_ id: RequestContext.ID) {
        if parent == nil { settle { $0.removeCall(id) } } else { remove(id) {} }
    }

    /// Removes a call that ended. Its completion runs when the call is no longer counted, and before
    /// ``shutdown(grace:)`` returns.
    func remove(_ id: RequestContext.ID, completion: () -> Void) {
        beginCompletion(of: id)
        completion()
        endExchange()
    }

    private func beginCompletion(of id: RequestContext.ID) {
        parent?.beginCompletion(of: id)
        state.withLock { state in
            state.removeCall(id)
            state.pendingCount += 1
        }
    }

    /// Counts a shared exchange in this scope and its ancestors, so that ``shutdown(grace:)`` waits for it.
    func beginExchange() {
        state.withLock { $0.pendingCount += 1 }
        parent?.beginExchange()
    }

    func endExchange() {
        settle { $0.pendingCount -= 1 }
        parent?.endExchange()
    }

    /// Changes the state. If no calls are left, resumes the waiters.
    func settle(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state -> [Waiter] in
            change(&state)
            if state.waiters.isEmpty { return [] }
            let done = state.waiters.filter { state.isIdle(apartFrom: $0.value.excluded) }
            for number in done.keys { state.waiters[number] = nil }
            return Array(done.values)
        }
        for waiter in waiters { waiter.continuation.resume() }
    }
}

extension RequestScope.State {
    mutating func removeCall(_ id: RequestContext.ID) {
        // A scope that was shut down didn't accept the call.
        if calls.removeValue(forKey: id) != nil { countHasChanged() }
    }

    /// Yields the new count. Runs under the lock, so that the counts are in order; `yield` makes no callbacks.
    func countHasChanged() {
        if counters.isEmpty { return }
        for counter in counters.values { counter.yield(calls.count) }
    }
}

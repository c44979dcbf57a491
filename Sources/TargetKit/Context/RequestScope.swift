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
    /// A call in flight, or the call that left an entry.
    struct Member: Sendable {
        let context: RequestContext
        let owner: ObjectIdentifier
    }

    /// A task that waits until no call is left.
    struct Waiter: Sendable {
        let number: UInt64
        let continuation: UnsafeContinuation<Void, Never>
        /// The calls that it doesn't wait for, because they wait for it.
        let excluded: Set<RequestContext.ID>
    }

    struct State: Sendable {
        var calls: [RequestContext.ID: Member] = [:]
        /// What calls left, such as open connections.
        var entries: [ScopeEntry.Kept] = []
        /// The number of shared exchanges in flight, and of ended calls whose completion isn't submitted yet.
        var pendingCount = 0
        var isShutDown = false
        /// The readers of the counts.
        var counters: [(number: UInt64, counts: AsyncStream<Int>.Continuation)] = []
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0

        /// Whether ``RequestScope/shutdown(grace:)`` waits only for these calls.
        func isIdle(apartFrom ids: Set<RequestContext.ID>) -> Bool {
            pendingCount == 0 && calls.count <= ids.count && calls.keys.allSatisfy(ids.contains)
                && entries.allSatisfy { ids.contains($0.call.context.id) }
        }

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// The parent scope, or `nil` if there is none.
    public let parent: RequestScope?
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
        for counter in state.withLock(\.counters) { counter.counts.finish() }
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

    private func cancel(where isMeant: (Member) -> Bool) {
        let (calls, entries) = state.withLock { (Array($0.calls.values), $0.entries) }
        let excluded = Self.callsOfHandler
        for call in calls where !excluded.contains(call.context.id) && isMeant(call) { call.context.handle.cancel() }
        for entry in entries where isMeant(entry.call) { entry.onCancel() }
    }

    /// Adds a call to this scope and its ancestors. Returns `false` if one of them is shut down.
    func insert(_ context: RequestContext, owner: AnyObject) -> Bool {
        if let parent, !parent.insert(context, owner: owner) { return false }
        let call = Member(context: context, owner: ObjectIdentifier(owner))
        let isTaken = state.withLock { state in
            guard !state.isShutDown else { return false }
            state.calls[context.id] = call
            state.countHasChanged()
            return true
        }
        if !isTaken { parent?.remove(context.id) }
        return isTaken
    }

    /// Removes a call that ended from this scope and its ancestors. Its completion runs when the call is no longer
    /// counted, and before ``shutdown(grace:)`` returns.
    func remove(_ id: RequestContext.ID, completion: (() -> Void)? = nil) {
        guard parent != nil || completion != nil else { return settle { $0.removeCall(id) } }
        beginCompletion(of: id)
        completion?()
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
        let waiters = state.withLock { state in
            change(&state)
            return state.takeIdleWaiters()
        }
        for waiter in waiters { waiter.continuation.resume() }
    }
}

extension RequestScope.State {
    mutating func removeCall(_ id: RequestContext.ID) {
        // A scope that was shut down didn't accept the call.
        if calls.removeValue(forKey: id) != nil { countHasChanged() }
    }

    /// Removes the waiters for which no call is left.
    @inline(never)
    mutating func takeIdleWaiters() -> [RequestScope.Waiter] {
        if waiters.isEmpty { return [] }
        let idle = waiters.filter { isIdle(apartFrom: $0.excluded) }
        waiters.removeAll { waiter in idle.contains { $0.number == waiter.number } }
        return idle
    }

    /// Yields the new count. Runs under the lock, so that the counts are in order; `yield` makes no callbacks.
    func countHasChanged() {
        for counter in counters { counter.counts.yield(calls.count) }
    }
}

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
                state.counters.append((number, continuation))
                continuation.yield(state.calls.count)
                return number
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.counters.removeAll { $0.number == number } }
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
        for entry in state.withLock(\.entries) { entry.onShutdown() }
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
                    state.waiters.append(Waiter(number: number, continuation: waiter, excluded: excluded))
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            guard endsWhenCancelled else { return }
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}

/// Something that belongs to a scope without being a call in flight, such as an open WebSocket.
public struct ScopeEntry: Sendable {
    /// What a scope keeps, as if it were the call that left it there.
    struct Kept: Sendable {
        let call: RequestScope.Member
        let onShutdown: @Sendable () -> Void
        let onCancel: @Sendable () -> Void
    }

    let id: RequestContext.ID
    let scope: RequestScope

    /// Notes that it has ended, so that ``RequestScope/shutdown(grace:)`` no longer waits for it. Later calls have no
    /// effect.
    public func end() {
        for scope in sequence(first: scope, next: \.parent) {
            scope.settle { $0.entries.removeAll { $0.call.context.id == id } }
        }
    }
}

extension RequestScope {
    /// Whether something is kept that the call with this identifier left.
    package func hasEntry(of id: RequestContext.ID) -> Bool {
        state.withLock { $0.entries.contains { $0.call.context.id == id } }
    }

    /// Keeps something in this scope and its ancestors. Returns `nil` if one of them is shut down.
    func keep(_ kept: ScopeEntry.Kept) -> ScopeEntry? {
        let entry = ScopeEntry(id: kept.call.context.id, scope: self)
        for scope in sequence(first: self, next: \.parent) {
            let isTaken = scope.state.withLock { state in
                if !state.isShutDown { state.entries.append(kept) }
                return !state.isShutDown
            }
            guard isTaken else {
                entry.end()
                return nil
            }
        }
        return entry
    }
}

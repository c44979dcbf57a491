// SPDX-License-Identifier: MIT

/// The calls that belong together, of any number of providers: those of an app, a session, a screen.
///
/// ```swift
/// let session = RequestScope()
/// let catalog = Provider<Catalog>(scope: session)
/// let orders = Provider<Orders>(scope: RequestScope(parent: session))
/// session.cancelAll()                              // both
/// ```
///
/// A call belongs to its provider's scope and to each scope above: it is counted there, and cancelled with it.
public final class RequestScope: Sendable {
    struct Call: Sendable {
        let context: RequestContext
        let owner: ObjectIdentifier
        let handle: RequestHandle
    }

    struct State: Sendable {
        var calls: [RequestContext.ID: Call] = [:]
        /// Shared exchanges that are in flight, and calls that have ended and whose completion is being handed out.
        var pendingCount = 0
        var isShutDown = false
        var counters: [UInt64: AsyncStream<Int>.Continuation] = [:]
        var waiters: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var lastNumber: UInt64 = 0

        /// Nothing is left that ``RequestScope/shutdown(grace:)`` has to wait for.
        var isIdle: Bool { calls.isEmpty && pendingCount == 0 }

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// The scope that this one belongs to; `nil` when it stands alone.
    public let parent: RequestScope?
    let clock: any Clock<Duration>
    let state = Locked(State())

    /// A scope without calls.
    ///
    /// - Parameters:
    ///   - parent: The scope that it is a part of, the session's for a screen's; default `nil`: none. Cancelling or shutting
    ///     down the parent does the same to the calls of this one.
    ///   - clock: What the grace time of ``shutdown(grace:)`` is measured by; default the parent's, else the continuous clock.
    public init(parent: RequestScope? = nil, clock: (any Clock<Duration>)? = nil) {
        self.parent = parent
        self.clock = clock ?? parent?.clock ?? ContinuousClock()
    }

    deinit {
        // A reader of the counts would wait for ever.
        for counter in state.withLock(\.counters).values { counter.finish() }
    }

    /// The number of calls that have started and have not ended, those of scopes below included.
    public var inFlightCount: Int { state.withLock(\.calls.count) }

    /// Cancels every call in flight. Each ends with an error of stage `.cancelled`; this does not wait for it.
    public func cancelAll() {
        cancel { _ in true }
    }

    /// Cancels every call in flight for which the closure says so.
    ///
    /// - Parameter isMeant: Sees each call as its plugins do at the first attempt.
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
        let calls = state.withLock { Array($0.calls.values) }
        for call in calls where isMeant(call) { call.handle.cancel() }
    }

    /// Takes a call in, here and in the scopes above; `false` when one of them is shut down.
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

    /// Lets go of a call that has ended. Its completion runs when it is not counted any more, and before
    /// ``shutdown(grace:)`` returns.
    func remove(_ id: RequestContext.ID, _ completion: (() -> Void)? = nil) {
        if let parent {
            parent.remove(id) { self.removeHere(id, completion) }
        } else {
            removeHere(id, completion)
        }
    }

    private func removeHere(_ id: RequestContext.ID, _ completion: (() -> Void)?) {
        guard let completion else { return settle { $0.removeCall(id) } }
        state.withLock { state in
            state.removeCall(id)
            state.pendingCount += 1
        }
        completion()
        settle { $0.pendingCount -= 1 }
    }

    /// Counts a shared exchange, which ``shutdown(grace:)`` waits for, here and in the scopes above.
    func beginExchange() {
        state.withLock { $0.pendingCount += 1 }
        parent?.beginExchange()
    }

    func endExchange() {
        settle { $0.pendingCount -= 1 }
        parent?.endExchange()
    }
}

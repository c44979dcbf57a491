// SPDX-License-Identifier: MIT

/// Something that belongs to a scope without being a call in flight, such as an open WebSocket.
public struct ScopeEntry: Sendable {
    /// What a scope keeps, as if it were the call that left it there.
    struct Kept: Sendable {
        let call: RequestScope.Call
        let onShutdown: @Sendable () -> Void
        let onCancel: @Sendable () -> Void
    }

    let id: RequestContext.ID
    let scope: RequestScope

    /// Notes that it has ended, so that ``RequestScope/shutdown(grace:)`` no longer waits for it. Later calls have no
    /// effect.
    public func end() {
        for scope in sequence(first: scope, next: \.parent) { scope.settle { $0.entries[id] = nil } }
    }
}

extension RequestScope {
    /// Whether something is kept that the call with this identifier left.
    package func hasEntry(of id: RequestContext.ID) -> Bool { state.withLock { $0.entries[id] != nil } }

    /// Keeps something in this scope and its ancestors. Returns `nil` if one of them is shut down.
    func keep(_ kept: ScopeEntry.Kept) -> ScopeEntry? {
        let entry = ScopeEntry(id: kept.call.context.id, scope: self)
        for scope in sequence(first: self, next: \.parent) {
            let isTaken = scope.state.withLock { state in
                if !state.isShutDown { state.entries[entry.id] = kept }
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

extension CallExchanges {
    /// Keeps something in the call's scope after the end of the call, such as an open connection.
    /// ``RequestScope/shutdown(grace:)`` waits for its end. ``RequestScope/inFlightCount`` doesn't include it.
    ///
    /// - Parameters:
    ///   - onShutdown: Called when the scope is being shut down, so that a connection can end according to its protocol
    ///     within the grace period. Called on any thread, possibly before the method returns, like `onCancel`.
    ///   - onCancel: Called when the calls of the scope or the provider are cancelled, or the grace period is over.
    /// - Returns: The entry that notes the end; `nil` if the scope is shut down, and the connection must be closed.
    public func keep(
        onShutdown: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> ScopeEntry? {
        // A call that its scope doesn't accept sends nothing.
        context.scope.state.withLock { $0.calls[context.id] }.flatMap { call in
            context.scope.keep(ScopeEntry.Kept(call: call, onShutdown: onShutdown, onCancel: onCancel))
        }
    }
}

// SPDX-License-Identifier: MIT

/// The reason why a scope ends a connection that a call left open.
public enum ConnectionEnd: Sendable, Hashable {
    /// The scope is being shut down. The connection can end according to its protocol within the grace period.
    case shutDown
    /// The calls of the scope or provider are cancelled, or the grace period is over.
    case cancelled
}

/// A connection that belongs to a scope after the end of the call that opened it.
public struct ScopedConnection: Sendable {
    let id: RequestContext.ID
    let scope: RequestScope

    /// Notes that the connection is closed, so that ``RequestScope/shutdown(grace:)`` no longer waits for it. Later
    /// calls have no effect.
    public func end() {
        var scope: RequestScope? = scope
        while let current = scope {
            current.settle { $0.connections[id] = nil }
            scope = current.parent
        }
    }
}

extension RequestScope {
    /// Whether a call has left a connection open.
    package func hasConnection(of id: RequestContext.ID) -> Bool { state.withLock { $0.connections[id] != nil } }

    /// A connection that a call has left open.
    struct Connection: Sendable {
        let call: Call
        let end: @Sendable (ConnectionEnd) -> Void
    }

    /// Adds the connection of a call to this scope and its ancestors. Returns `nil` if one of them is shut down.
    func insertConnection(of call: Call, end: @escaping @Sendable (ConnectionEnd) -> Void) -> ScopedConnection? {
        let connection = ScopedConnection(id: call.context.id, scope: self)
        var scope: RequestScope? = self
        while let current = scope {
            let isTaken = current.state.withLock { state in
                guard !state.isShutDown else { return false }
                state.connections[call.context.id] = Connection(call: call, end: end)
                return true
            }
            guard isTaken else {
                connection.end()
                return nil
            }
            scope = current.parent
        }
        return connection
    }
}

extension CallExchanges {
    /// Keeps a connection in the call's scope after the end of the call. Cancelling the scope or the provider ends the
    /// connection, and ``RequestScope/shutdown(grace:)`` waits for it. ``RequestScope/inFlightCount`` doesn't include
    /// it.
    ///
    /// - Parameter end: Ends the connection. Called on any thread, once for each reason, possibly before the method
    ///   returns.
    /// - Returns: The entry that notes the end of the connection; `nil` if the scope is shut down, and the connection
    ///   must be closed.
    public func keepConnection(end: @escaping @Sendable (ConnectionEnd) -> Void) -> ScopedConnection? {
        // A call that its scope doesn't accept sends nothing.
        context.scope.state.withLock { $0.calls[context.id] }
            .flatMap { context.scope.insertConnection(of: $0, end: end) }
    }
}

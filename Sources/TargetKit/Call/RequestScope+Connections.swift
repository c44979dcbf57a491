// SPDX-License-Identifier: MIT

/// Why a scope ends a connection that a call has left open.
public enum ConnectionEnd: Sendable, Hashable {
    /// The scope is being shut down: the connection can end by its protocol within the grace period.
    case shutDown
    /// The calls of the scope or provider are cancelled, or the grace period is over.
    case cancelled
}

/// A connection that belongs to a scope after the end of the call that has opened it.
public struct ScopedConnection: Sendable {
    let id: RequestContext.ID
    let scope: RequestScope

    /// Notes that the connection is closed, which ``RequestScope/shutdown(grace:)`` waits for. Later calls have no
    /// effect.
    public func end() {
        var scope: RequestScope? = scope
        while let current = scope {
            current.settle { $0.connections[id] = nil }
            scope = current.parent
        }
    }
}

extension RequestScope {
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
    /// Keeps a connection in the call's scope after the end of the call: cancelling the scope or the provider ends it,
    /// and ``RequestScope/shutdown(grace:)`` waits for it. It isn't counted by ``RequestScope/inFlightCount``.
    ///
    /// - Parameter end: Ends the connection. Called on any thread, once for each reason, possibly before the method
    ///   returns.
    /// - Returns: What notes the end of the connection; `nil` if the scope is shut down, and the connection has to be
    ///   closed.
    public func keepConnection(end: @escaping @Sendable (ConnectionEnd) -> Void) -> ScopedConnection? {
        // A call that its scope does not accept sends nothing.
        context.scope.state.withLock { $0.calls[context.id] }
            .flatMap { context.scope.insertConnection(of: $0, end: end) }
    }
}

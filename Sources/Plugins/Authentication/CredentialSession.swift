// SPDX-License-Identifier: MIT
import TargetKit

/// A session of an ``AuthenticationPlugin``: from a sign-in to the next one or to a sign-out, across refreshes of its
/// credential.
final class CredentialSession: Sendable {
    private struct State: Sendable {
        /// The digest that identifies the session's user, for each cache.
        var users: [ObjectIdentifier: String] = [:]
        var actions: [@Sendable () -> Void] = []
        var isEnded = false
    }

    private let state = Locked(State())

    var isEnded: Bool { state.withLock(\.isEnded) }

    /// Identifies the user for a cache, by the session's first credential.
    ///
    /// - Parameter onEnd: Called with the identifier at the end of the session. It keeps the cache alive.
    func user(
        of cache: AnyObject,
        _ first: () -> String,
        onEnd: @escaping @Sendable (String) -> Void
    ) -> String {
        let id = ObjectIdentifier(cache)
        if let user = state.withLock({ $0.users[id] }) { return user }
        let new = first()
        let (user, isEnded) = state.withLock { state in
            if let user = state.users[id] { return (user, false) }
            state.users[id] = new
            if !state.isEnded { state.actions.append { onEnd(new) } }
            return (new, state.isEnded)
        }
        if isEnded { onEnd(user) }
        return user
    }

    /// Ends the session.
    func end() {
        let actions = state.withLock { state in
            state.isEnded = true
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }
}

/// The session whose credential a call carries.
enum CredentialSessionKey: RequestContextKey { typealias Value = CredentialSession }

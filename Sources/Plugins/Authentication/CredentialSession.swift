// SPDX-License-Identifier: MIT
import TargetKit

/// A session of an ``AuthenticationPlugin``: from a sign-in to the next one or to a sign-out, across refreshes of its
/// credential.
final class CredentialSession: Sendable {
    private struct State: Sendable {
        /// The digest that identifies the session's user, for each cache.
        var users: [ObjectIdentifier: String] = [:]
        var caches: [ObjectIdentifier: ResponseCache] = [:]
        var isEnded = false
    }

    private let state = Locked(State())

    var isEnded: Bool { state.withLock(\.isEnded) }

    /// Identifies the user for a cache, by the session's first credential.
    func user(of cache: ResponseCache, _ first: () -> String) -> String {
        let id = ObjectIdentifier(cache)
        if let user = state.withLock({ $0.users[id] }) { return user }
        let new = first()
        return state.withLock { state in
            if state.users[id] == nil { state.users[id] = new }
            return state.users[id] ?? new
        }
    }

    /// Removes the responses to requests with credentials from a cache when the session ends.
    func removePersonalResponses(of cache: ResponseCache) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.caches[ObjectIdentifier(cache)] = cache }
            return state.isEnded
        }
        if isEnded { cache.removePersonal() }
    }

    /// Ends the session.
    func end() {
        let caches = state.withLock { state in
            state.isEnded = true
            defer { state.caches = [:] }
            return state.caches.values
        }
        for cache in caches { cache.removePersonal() }
    }
}

/// The session whose credential a call carries.
enum CredentialSessionKey: RequestContextKey { typealias Value = CredentialSession }

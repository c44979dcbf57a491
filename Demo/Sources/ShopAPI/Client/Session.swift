// SPDX-License-Identifier: MIT

/// What an app knows of its session: the token that calls carry, and how often it was refreshed and ended.
package final class Session: Sendable {
    private struct State {
        var token: String?
        var refreshes = 0
        var signOuts = 0
    }

    private let state = Guarded(State())

    package init() {}

    /// The token of the session; `nil` when nobody is signed in.
    package var token: String? { state.value.token }

    /// How many times a token was refreshed.
    package var refreshes: Int { state.value.refreshes }

    /// How many times ``end()`` was called.
    package var signOuts: Int { state.value.signOuts }

    package func begin(_ token: String) {
        state.withLock { $0.token = token }
    }

    /// Replaces the token by a refreshed one.
    package func refresh(_ token: String) {
        state.withLock { state in
            state.token = token
            state.refreshes += 1
        }
    }

    package func end() {
        state.withLock { state in
            state.token = nil
            state.signOuts += 1
        }
    }
}

// SPDX-License-Identifier: MIT
import Synchronization

/// Who is signed in: the token that the calls carry, and how often somebody was signed out.
final class Session: Sendable {
    private struct State {
        var token: String?
        var signOuts = 0
    }

    private let state = Mutex(State())

    /// The token of the session; `nil` when nobody is signed in.
    var token: String? { state.withLock { $0.token } }

    /// How many times ``end()`` was called.
    var signOuts: Int { state.withLock { $0.signOuts } }

    func begin(_ token: String) {
        state.withLock { $0.token = token }
    }

    func end() {
        state.withLock { state in
            state.token = nil
            state.signOuts += 1
        }
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential {
    /// Begins a session with that credential, or without one. A refresh of the old session has no effect.
    ///
    /// - Returns: The credential of the old session.
    /// - Throws: The store's error. The session has begun nevertheless.
    func replace(with credential: Credential?) async throws -> Credential? {
        let (old, change) = enter(credential)
        try await write(credential, change: change)
        return old
    }

    /// The part of ``replace(with:)`` before the change is stored.
    ///
    /// - Returns: The credential of the old session, and the number of the change.
    func enter(_ credential: Credential?) -> (old: Credential?, change: Int) {
        let (old, running, hasEnded, change, owner) = state.withLock { state in
            defer {
                state.status = credential.map { .held($0) } ?? .none
                state.session += 1
                state.owner = CredentialSession()
                state.generation += 1
                state.adoptedGeneration = nil
                state.wasInStore = false
                state.running = nil
                state.untestedStart = nil
                state.starts = []
                state.refusals = [:]
                state.lastFailure = nil
            }
            let hasEnded = if case .ended = state.status { true } else { false }
            return (Self.lease(in: state)?.credential, state.running, hasEnded, state.nextChange(), state.owner)
        }
        owner.end()
        // After the end of the session only the sign-out handler still runs, and it may be the code that signs in.
        if let running, !hasEnded {
            running.task.cancel()
            running.refresh.outcome.settle(.failure(.signedOut))
        }
        return (old, change)
    }
}

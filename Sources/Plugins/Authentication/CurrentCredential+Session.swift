// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential.State {
    /// Starts a session with a credential, or without one.
    mutating func begin(_ credential: A.Credential?, as owner: CredentialSession) {
        status = credential.map { .held($0) } ?? .none
        session += 1
        if credential != nil { signInCount += 1 }
        self.owner = owner
        generation += 1
        adoptedGeneration = nil
        wasInStore = false
        running = nil
        untestedStart = nil
        starts = []
        refusals = [:]
        lastFailure = nil
    }
}

extension CurrentCredential {
    /// Starts a session with a credential, or without one. A refresh of the old session has no effect.
    ///
    /// - Returns: The credential of the old session.
    /// - Throws: The store's error. The session starts in any case.
    func replace(with credential: Credential?) async throws -> Credential? {
        let (old, change) = enter(credential)
        // A separate task, so that the change is stored even if its caller is cancelled while it waits for another
        // process.
        try await Task {
            do {
                try await changingStore { try await self.write(change) }
            } catch {
                noteUnsaved(change)
                throw error
            }
        }.value
        return old
    }

    /// The part of ``replace(with:)`` before the change is stored.
    ///
    /// - Returns: The credential of the old session, and the change.
    func enter(_ credential: Credential?) -> (old: Credential?, change: Change) {
        let (old, running, hasEnded, number, oldOwner, owner) = state.withLock { state in
            let (oldLease, running, oldOwner) = (Self.lease(in: state), state.running, state.owner)
            let hasEnded = if case .ended = state.status { true } else { false }
            let owner = credential == nil ? CredentialSession(id: nil, after: oldOwner) : .new(after: oldOwner)
            state.begin(credential, as: owner)
            return (oldLease?.credential, running, hasEnded, state.nextChange(), oldOwner, owner)
        }
        oldOwner.end()
        // After the end of the session, only the sign-out handler is still running, and it may be the code that signs
        // in.
        if let running, !hasEnded {
            // The cancelled refresh may end immediately, and must not determine the errors of the calls.
            running.refresh.outcome.settle(.failure(.signedOut))
            running.task.cancel()
        }
        let stored = credential.map { IdentifiedCredential($0, session: owner.id) }
        return (old, Change(number: number, contents: stored))
    }
}

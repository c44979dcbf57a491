// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential {
    /// The result of comparing the store with a credential that this process used.
    enum Comparison: Sendable {
        case same
        /// Another process stored this credential.
        ///
        /// - Parameter isSameSession: Whether it is known to belong to the same session. It is unknown if the store
        ///   doesn't save identifiers.
        case refreshed(IdentifiedCredential<Credential>, isSameSession: Bool)
        /// Another process started this session.
        case replaced(IdentifiedCredential<Credential>)
        /// Another process cleared the store.
        case cleared
    }

    /// A change of the store.
    struct Change: Sendable {
        let number: Int
        /// The contents after the change; `nil` if the store is cleared.
        let contents: IdentifiedCredential<Credential>?
    }

    /// Compares the stored credential with one that this process used. A store that can't be read may still
    /// contain it.
    func comparison(with credential: Credential, of refresh: Refresh) async -> Comparison {
        (try? await stored(comparedTo: credential, of: refresh)) ?? .same
    }

    /// Compares the stored credential with one that this process used.
    func stored(comparedTo credential: Credential, of refresh: Refresh) async throws -> Comparison {
        // Unless the store contains the latest change, it can't reveal changes of other processes.
        guard let change = storedChange else { return .same }
        let stored = try await credentialStore.load()
        guard change == storedChange else { return .same }
        return state.withLock { state in
            guard state.session == refresh.session else { return .same }
            guard let stored else { return state.wasInStore ? .cleared : .same }
            state.wasInStore = true
            state.storedSession = stored.session
            if stored.credential == credential { return .same }
            guard let session = stored.session, let own = state.owner.id else {
                return .refreshed(stored, isSameSession: false)
            }
            return session == own ? .refreshed(stored, isSameSession: true) : .replaced(stored)
        }
    }

    /// The number of the latest change; `nil` while it isn't in the store.
    private var storedChange: Int? {
        state.withLock { $0.storedChange == $0.changeCount ? $0.changeCount : nil }
    }

    /// Runs a refresh while no other process changes the store.
    func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await credentialStore.withRefreshLock { [self] in
            state.withLock { $0.lockCount += 1 }
            defer { state.withLock { $0.lockCount -= 1 } }
            return try await refresh()
        }
    }

    /// Changes the store while no other process does.
    func changingStore(_ change: @escaping @Sendable () async throws -> Void) async throws {
        // A refresh of this process holds the lock, and may be the code that makes the change. It stores nothing after
        // another session has started.
        if state.withLock({ $0.lockCount > 0 }) { return try await change() }
        try await credentialStore.withRefreshLock(change)
    }

    /// Stores a change, and reports a failure.
    func store(_ change: Change) async {
        do {
            try await write(change)
        } catch {
            noteUnsaved(change)
            onStoreFailure(error)
        }
    }

    /// Stores a change.
    func write(_ change: Change) async throws {
        try await credentialStore.write(change.contents, change: change.number)
        let isUnknown = state.withLock { state in
            state.storedChange = max(state.storedChange, change.number)
            if state.changeCount == change.number { state.storedSession = change.contents?.session }
            return change.contents != nil && !state.wasInStore
        }
        // Determines whether the store retains the credential, so that a sign-out in another process can be detected.
        guard isUnknown, let stored = try? await credentialStore.load() else { return }
        state.withLock { state in
            if state.changeCount == change.number, stored.credential == change.contents?.credential {
                state.wasInStore = true
            }
        }
    }

    /// Notes that a change couldn't be stored. ``storeUnsaved()`` tries again, unless another change follows first.
    func noteUnsaved(_ change: Change) {
        state.withLock { state in
            if state.changeCount == change.number, state.storedChange != change.number { state.isUnsaved = true }
        }
    }

    /// Tries again to store a credential that couldn't be stored, because the server may have revoked the stored one.
    /// Another failure isn't reported.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func storeUnsaved() async throws {
        let unsaved = state.withLock { state -> Change? in
            guard state.isUnsaved else { return nil }
            let contents = Self.lease(in: state).map {
                IdentifiedCredential($0.credential, session: $0.owner.id)
            }
            return Change(number: state.nextChange(), contents: contents)
        }
        guard let unsaved else { return }
        let outcome = SharedOutcome<Void>()
        Task {
            do {
                try await changingStore { try await self.writeUnlessReplaced(unsaved) }
            } catch {
                noteUnsaved(unsaved)
            }
            outcome.settle(())
        }
        try await outcome.value()
    }

    /// Stores a change, unless another process changed the store in the meantime.
    private func writeUnlessReplaced(_ change: Change) async throws {
        let stored = try? await credentialStore.load()
        let isReplaced = state.withLock { state in
            guard let stored else { return state.wasInStore && change.contents != nil }
            guard let session = stored.session else { return false }
            return session != change.contents?.session && session != state.storedSession
        }
        // The next refresh compares the credential with the contents of the store.
        if isReplaced {
            state.withLock { $0.storedChange = max($0.storedChange, change.number) }
        } else {
            try await write(change)
        }
    }
}

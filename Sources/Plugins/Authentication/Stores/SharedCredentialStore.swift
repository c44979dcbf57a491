// SPDX-License-Identifier: MIT
import TargetKit

/// The store of an ``AuthenticationPlugin``, which other processes may also change. It performs one operation at a
/// time.
///
/// ```
///             begin              write
///   stored ──────────→ pending ──────────→ stored
///                       ↑   ↓ error of the store
///           writeUnsaved └ unsaved
/// ```
///
/// These are the states of the latest change of this process, which replaces earlier ones. Only while it is stored, a
/// comparison with the store reveals changes of other processes.
final class SharedCredentialStore<Credential: Sendable & Equatable>: Sendable {
    /// The contents of the store.
    ///
    /// It is a class, so that code that only passes it on needs no metadata of the credential.
    final class Stored: Sendable {
        let credential: Credential
        let session: String?

        fileprivate init(_ contents: (credential: Credential, session: String?)) {
            (credential, session) = contents
        }
    }

    /// A change of this process: the contents after it; `nil` if the store is cleared.
    final class Change: Sendable {
        let number: Int
        let contents: (credential: Credential, session: String)?

        init(number: Int, contents: (credential: Credential, session: String)?) {
            self.number = number
            self.contents = contents
        }
    }

    /// The result of comparing the store with a credential that this process used.
    enum Comparison: Sendable {
        case same
        /// Another process stored this credential.
        ///
        /// - Parameter isSameSession: Whether it is known to belong to the same session. It is unknown if the store
        ///   doesn't save identifiers.
        case refreshed(Stored, isSameSession: Bool)
        /// Another process started this session.
        case replaced(Stored)
        /// Another process cleared the store.
        case cleared
    }

    private struct State: Sendable {
        /// The number of the latest change.
        var number = 0
        var isStored = true
        /// The latest change if it couldn't be stored.
        var unsaved: Change?
        /// Whether the store contained a credential of the session. Some stores save none, for users who don't want to
        /// stay signed in.
        var wasInStore = false
        /// The stored session when the store was last read or written.
        var storedSession: String?
        /// The number of refreshes of this process that hold the store's lock.
        var lockCount = 0
        /// Waits for the latest operation.
        var wait: @Sendable () async -> Void = {}

        mutating func note(_ stored: Stored?) {
            wasInStore = stored != nil
            storedSession = stored?.session
        }

        /// Whether another process changed the store after a change that couldn't be stored.
        func isReplaced(_ change: Change, by stored: Stored?) -> Bool {
            guard let stored else { return wasInStore && change.contents != nil }
            guard let session = stored.session else { return false }
            return session != change.contents?.session && session != storedSession
        }
    }

    private let store: any CredentialStore<Credential>
    private let state = Locked(State())

    init(_ store: any CredentialStore<Credential>) {
        self.store = store
    }

    private static func stored(in store: any CredentialStore<Credential>) async throws -> Stored? {
        try await store.loadSession().map(Stored.init)
    }

    /// Performs an operation after the previous ones. It isn't cancelled with the task that waits for it.
    private func next<Value: Sendable>(
        _ operation: @escaping @Sendable (any CredentialStore<Credential>) async throws -> Value
    ) async throws -> Value {
        let task = state.withLock { state in
            let (store, wait) = (store, state.wait)
            let task = Task {
                await wait()
                return try await operation(store)
            }
            state.wait = { _ = await task.result }
            return task
        }
        return try await task.value
    }

    /// Runs a refresh while no other process changes the store.
    func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await store.withRefreshLock { [state] in
            state.withLock { $0.lockCount += 1 }
            defer { state.withLock { $0.lockCount -= 1 } }
            return try await refresh()
        }
    }
}

// MARK: - Reading

extension SharedCredentialStore {
    /// The stored credential, before the first change.
    func load() async throws -> Stored? {
        try await next { [state] store in
            let stored = try await Self.stored(in: store)
            state.withLock { if $0.number == 0 { $0.note(stored) } }
            return stored
        }
    }

    /// Compares the stored credential with one of a session.
    func comparison(with credential: Credential, of session: CredentialSession) async throws -> Comparison {
        guard state.withLock(\.isStored) else { return .same }
        return try await next { [state] store in
            let stored = try await Self.stored(in: store)
            let own = session.id
            return state.withLock { state in
                // Another change of this process has begun.
                guard state.isStored else { return .same }
                guard let stored else { return state.wasInStore ? .cleared : .same }
                state.note(stored)
                if stored.credential == credential { return .same }
                guard let own, let other = stored.session else { return .refreshed(stored, isSameSession: false) }
                return other == own ? .refreshed(stored, isSameSession: true) : .replaced(stored)
            }
        }
    }
}

// MARK: - Writing

extension SharedCredentialStore {
    /// Begins a change, which ``write(_:)`` stores.
    func begin(_ contents: (credential: Credential, session: String)?, startsSession: Bool = false) -> Change {
        state.withLock { state in
            state.number += 1
            state.isStored = false
            state.unsaved = nil
            if startsSession { state.wasInStore = false }
            return Change(number: state.number, contents: contents)
        }
    }

    /// Stores a change while no other process changes the store, unless a later change has begun. It isn't cancelled
    /// with the task that waits for it.
    ///
    /// - Throws: The store's error. ``writeUnsaved()`` tries again.
    func write(_ change: Change, isRepeated: Bool = false) async throws {
        let write = { @Sendable [self] in
            try await next { try await self.write(change, to: $0, isRepeated: isRepeated) }
        }
        do {
            // A refresh of this process holds the lock, and may be the code that makes the change. It stores nothing
            // after another session has started.
            if state.withLock({ $0.lockCount > 0 }) { return try await write() }
            try await Task { [store] in try await store.withRefreshLock(write) }.value
        } catch {
            state.withLock { if $0.number == change.number, !$0.isStored { $0.unsaved = change } }
            throw error
        }
    }

    /// Whether there is a change that couldn't be stored.
    var hasUnsaved: Bool { state.withLock { $0.unsaved != nil } }

    /// Tries again to store a change that couldn't be stored, because the server may have revoked the stored
    /// credential. Another failure isn't reported.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func writeUnsaved() async throws {
        let unsaved = state.withLock { state in
            defer { state.unsaved = nil }
            return state.unsaved
        }
        guard let unsaved else { return }
        let outcome = SharedOutcome<Void>()
        Task {
            try? await write(unsaved, isRepeated: true)
            outcome.settle(())
        }
        try await outcome.value()
    }

    private func write(
        _ change: Change,
        to store: any CredentialStore<Credential>,
        isRepeated: Bool
    ) async throws {
        let (isLatest, wasInStore) = state.withLock { ($0.number == change.number, $0.wasInStore) }
        guard isLatest else { return }
        if isRepeated {
            // A store that can't be read may contain the credential of another process.
            let stored = wasInStore ? try await Self.stored(in: store) : try? await Self.stored(in: store)
            let isReplaced = state.withLock { state in
                // If so, the next refresh compares the credential with the contents of the store.
                state.isStored = state.number == change.number && state.isReplaced(change, by: stored)
                return state.isStored
            }
            if isReplaced { return }
        }
        if let (credential, session) = change.contents {
            try await store.save(credential, session: session)
        } else {
            try await store.clear()
        }
        let isUnknown = state.withLock { state in
            guard state.number == change.number else { return false }
            state.isStored = true
            state.storedSession = change.contents?.session
            return change.contents != nil && !state.wasInStore
        }
        // Determines whether the store retains the credential, so that a sign-out in another process can be detected.
        guard isUnknown, let stored = try? await Self.stored(in: store),
            stored.credential == change.contents?.credential
        else { return }
        state.withLock { if $0.number == change.number { $0.wasInStore = true } }
    }
}

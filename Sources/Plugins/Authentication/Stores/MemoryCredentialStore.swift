// SPDX-License-Identifier: MIT
import TargetKit

/// Keeps the credential in memory, for tests and for sessions that end with the app.
package final class MemoryCredentialStore<Credential: Sendable & Equatable>: CredentialStore {
    private let credential: Locked<Credential?>

    /// Creates a store with that credential; default: none.
    package init(_ credential: Credential? = nil) {
        self.credential = Locked(credential)
    }

    /// The credential.
    package func load() -> Credential? { credential.withLock { $0 } }

    /// Keeps the credential.
    package func save(_ credential: Credential) { self.credential.withLock { $0 = credential } }

    /// Removes the credential.
    package func clear() { credential.withLock { $0 = nil } }
}

/// A credential store with one operation at a time, in which the latest change wins, in whatever order the changes
/// arrive.
actor SerialCredentialStore<Credential: Sendable & Equatable> {
    private let store: any CredentialStore<Credential>
    /// The same store, if its operations need no order: thousands of calls may wait for a refresh, and each task that it
    /// needs waits behind theirs.
    nonisolated let memory: MemoryCredentialStore<Credential>?
    private var lastChange = 0
    /// The latest operation, which the next one waits for: an actor does not wait for what its methods await.
    private var last: Task<Void, Never>?

    init(_ store: any CredentialStore<Credential>) {
        self.store = store
        memory = store as? MemoryCredentialStore<Credential>
    }

    /// The stored credential.
    nonisolated func load() async throws -> Credential? {
        if let memory { return memory.load() }
        return try await next { store in try await store.load() }
    }

    /// Saves a credential, or clears the store.
    ///
    /// - Parameter change: The number of the change; it is ignored if a later one was made before.
    func write(_ credential: Credential?, change: Int) async throws {
        guard change > lastChange else { return }
        lastChange = change
        if let memory {
            if let credential { memory.save(credential) } else { memory.clear() }
            return
        }
        try await next { store in
            if let credential { try await store.save(credential) } else { try await store.clear() }
        }
    }

    /// Runs a refresh while no other process runs one.
    nonisolated func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await store.withRefreshLock(refresh)
    }

    /// Performs an operation after those before it. It is not cancelled with the task that waits for it.
    private func next<Value: Sendable>(
        _ operation: @escaping @Sendable (any CredentialStore<Credential>) async throws -> Value
    ) async throws -> Value {
        let (store, previous) = (store, last)
        let task = Task {
            await previous?.value
            return try await operation(store)
        }
        last = Task { _ = await task.result }
        return try await task.value
    }
}

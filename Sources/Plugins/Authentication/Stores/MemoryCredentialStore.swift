// SPDX-License-Identifier: MIT
import TargetKit

/// Keeps the credential in memory, for tests and for sessions that end with the app.
package final class MemoryCredentialStore<Credential: Sendable & Equatable>: CredentialStore {
    private let contents: Locked<IdentifiedCredential<Credential>?>

    /// Creates a store with that credential; default: none.
    package init(_ credential: Credential? = nil) {
        contents = Locked(credential.map { IdentifiedCredential($0, session: nil) })
    }

    var stored: IdentifiedCredential<Credential>? {
        get { contents.withLock { $0 } }
        set { contents.withLock { $0 = newValue } }
    }

    /// The credential.
    package func load() -> Credential? { stored?.credential }

    /// The credential with the identifier of its session.
    package func loadSession() -> (credential: Credential, session: String?)? {
        stored.map { ($0.credential, $0.session) }
    }

    /// Keeps the credential.
    package func save(_ credential: Credential) { stored = IdentifiedCredential(credential, session: nil) }

    /// Keeps the credential and the identifier of its session.
    package func save(_ credential: Credential, session: String) {
        stored = IdentifiedCredential(credential, session: session)
    }

    /// Removes the credential.
    package func clear() { stored = nil }
}

/// A credential, and the identifier of its session if the store keeps one.
struct IdentifiedCredential<Credential: Sendable & Equatable>: Sendable, Equatable {
    let credential: Credential
    let session: String?

    init(_ credential: Credential, session: String?) {
        self.credential = credential
        self.session = session
    }

    init(_ stored: (credential: Credential, session: String?)) {
        self.init(stored.credential, session: stored.session)
    }
}

/// A credential store with one operation at a time, in which the latest change wins, in whatever order the changes
/// arrive.
actor SerialCredentialStore<Credential: Sendable & Equatable> {
    private let store: any CredentialStore<Credential>
    /// The same store, if its operations need no order: thousands of calls may wait for a refresh, and each task that
    /// it needs waits behind theirs.
    nonisolated let memory: MemoryCredentialStore<Credential>?
    private var lastChange = 0
    /// The latest operation, which the next one waits for: an actor doesn't wait for what its methods await.
    private var last: Task<Void, Never>?

    init(_ store: any CredentialStore<Credential>) {
        self.store = store
        memory = store as? MemoryCredentialStore<Credential>
    }

    /// The stored credential with the identifier of its session.
    nonisolated func load() async throws -> IdentifiedCredential<Credential>? {
        if let memory { return memory.stored }
        return try await next { store in try await store.loadSession().map { IdentifiedCredential($0) } }
    }

    /// Saves a credential, or clears the store.
    ///
    /// - Parameter change: The number of the change; it is ignored if a later one was made before.
    func write(_ stored: IdentifiedCredential<Credential>?, change: Int) async throws {
        guard change > lastChange else { return }
        lastChange = change
        if let memory {
            memory.stored = stored
            return
        }
        try await next { store in
            guard let stored else { return try await store.clear() }
            guard let session = stored.session else { return try await store.save(stored.credential) }
            try await store.save(stored.credential, session: session)
        }
    }

    /// Runs a refresh while no other process runs one.
    nonisolated func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await store.withRefreshLock(refresh)
    }

    /// Performs an operation after those before it. It isn't cancelled with the task that waits for it.
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

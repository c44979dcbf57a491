// SPDX-License-Identifier: MIT
import TargetKit

/// Stores the credential in memory, for tests and for sessions that end with the app.
package final class MemoryCredentialStore<Credential: Sendable & Equatable>: CredentialStore {
    private let contents: Locked<IdentifiedCredential<Credential>?>

    /// Creates a store with a credential; default: none.
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

    /// Stores the credential.
    package func save(_ credential: Credential) { stored = IdentifiedCredential(credential, session: nil) }

    /// Stores the credential and the identifier of its session.
    package func save(_ credential: Credential, session: String) {
        stored = IdentifiedCredential(credential, session: session)
    }

    /// Removes the credential.
    package func clear() { stored = nil }
}

/// A credential, with the identifier of its session if the store saves it.
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

/// A credential store that performs one operation at a time, and in which the latest change wins regardless of the
/// order of arrival.
actor SerialCredentialStore<Credential: Sendable & Equatable> {
    private let store: any CredentialStore<Credential>
    /// The underlying store if its operations don't suspend, so that a refresh isn't queued behind thousands of waiting
    /// calls.
    nonisolated let memory: MemoryCredentialStore<Credential>?
    private var lastChange = 0
    /// The latest operation, for which the next one waits, because an actor is reentrant while its methods await.
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

    /// Saves a credential or clears the store.
    ///
    /// - Parameter change: The number of the change. It is ignored if a later change was made before.
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

    /// Performs an operation after the previous ones. It isn't cancelled with the task that waits for it.
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

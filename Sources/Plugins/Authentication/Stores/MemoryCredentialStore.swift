// SPDX-License-Identifier: MIT
import TargetKit

/// Keeps the credential in memory, for tests and for sessions that end with the app.
package final class MemoryCredentialStore<Credential: Sendable>: CredentialStore {
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
actor SerialCredentialStore<Credential: Sendable> {
    private let store: any CredentialStore<Credential>
    private var lastChange = 0
    /// The credential that was read; several calls may need it at once.
    private var loaded: Credential??

    init(_ store: any CredentialStore<Credential>) {
        self.store = store
    }

    /// The stored credential, which is read once; a failed attempt is repeated.
    func load() throws -> Credential? {
        if let loaded { return loaded }
        let credential = try store.load()
        loaded = .some(credential)
        return credential
    }

    /// Saves a credential, or clears the store.
    ///
    /// - Parameter change: The number of the change; it is ignored if a later one was made before.
    func write(_ credential: Credential?, change: Int) throws {
        guard change > lastChange else { return }
        lastChange = change
        loaded = .some(credential)
        if let credential { try store.save(credential) } else { try store.clear() }
    }
}

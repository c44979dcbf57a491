// SPDX-License-Identifier: MIT
import TargetKit

/// Keeps the credential as long as the app runs: for tests, and for sessions that are not to outlive it.
public final class MemoryCredentialStore<Credential: Sendable>: CredentialStore {
    private let credential: Locked<Credential?>

    /// A store that holds that credential; default: none.
    public init(_ credential: Credential? = nil) {
        self.credential = Locked(credential)
    }

    /// The credential.
    public func load() -> Credential? { credential.withLock { $0 } }

    /// Keeps the credential.
    public func save(_ credential: Credential) { self.credential.withLock { $0 = credential } }

    /// Lets go of the credential.
    public func clear() { credential.withLock { $0 = nil } }
}

/// A credential store to which one call is made at a time, and in which the last change wins whatever the order in which the
/// changes arrive here.
actor SerialCredentialStore<Credential: Sendable> {
    private let store: any CredentialStore<Credential>
    private var lastChange = 0
    /// What was read; several may ask at once.
    private var loaded: Credential??

    init(_ store: any CredentialStore<Credential>) {
        self.store = store
    }

    /// What is stored, read once; an attempt that fails does not count.
    func load() throws -> Credential? {
        if let loaded { return loaded }
        let credential = try store.load()
        loaded = .some(credential)
        return credential
    }

    /// Saves a credential, or clears the store.
    ///
    /// - Parameter change: The number of the change; one that comes after a later one is left out.
    func write(_ credential: Credential?, change: Int) throws {
        guard change > lastChange else { return }
        lastChange = change
        loaded = .some(credential)
        if let credential { try store.save(credential) } else { try store.clear() }
    }
}

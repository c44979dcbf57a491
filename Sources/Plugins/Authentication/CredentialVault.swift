// SPDX-License-Identifier: MIT

/// A credential store to which one call is made at a time, and in which the last change wins whatever the order in which the
/// changes arrive here.
actor CredentialVault<Credential: Sendable> {
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

// SPDX-License-Identifier: MIT

/// A credential store to which one call is made at a time, and in which the last change wins whatever the order in which the
/// changes arrive here.
actor CredentialVault<Credential: Sendable> {
    private let store: any CredentialStore<Credential>
    private var lastChange = 0

    init(_ store: any CredentialStore<Credential>) {
        self.store = store
    }

    func load() throws -> Credential? { try store.load() }

    /// Saves a credential, or clears the store.
    ///
    /// - Parameter change: The number of the change; one that comes after a later one is left out.
    func write(_ credential: Credential?, change: Int) throws {
        guard change > lastChange else { return }
        lastChange = change
        if let credential { try store.save(credential) } else { try store.clear() }
    }
}

// SPDX-License-Identifier: MIT

extension CredentialStore {
    /// The credential that ``load()`` returns. An ``OAuthCredential`` contains the identifier of its session; other
    /// credentials have none.
    public func loadSession() async throws -> (credential: Credential, session: String?)? {
        guard let stored = try await load() else { return nil }
        guard var credential = stored as? OAuthCredential else { return (stored, nil) }
        let session = credential.session
        credential.session = nil
        return (credential as? Credential ?? stored, session)
    }

    /// Saves the credential with ``save(_:)``. An ``OAuthCredential`` contains the identifier of its session; other
    /// credentials are saved without it.
    public func save(_ credential: Credential, session: String) async throws {
        guard var identified = credential as? OAuthCredential else { return try await save(credential) }
        identified.session = session
        try await save(identified as? Credential ?? credential)
    }
}

// SPDX-License-Identifier: MIT

/// Where an ``AuthenticationPlugin`` keeps the credential between two runs of the app.
///
/// The plugin reads it once, before the first call that needs it, and writes each change. It does so one call at a time, on a
/// thread of its own choice, never the main one. A store belongs to one plugin: what others write into it is not noticed.
public protocol CredentialStore<Credential>: Sendable {
    /// What is stored.
    associatedtype Credential: Sendable

    /// The credential that is stored; `nil` when there is none.
    ///
    /// - Throws: when it cannot be told. The call that wanted it fails with this error, and the next one tries again; nobody is
    ///   signed out.
    func load() throws -> Credential?

    /// Stores a credential in the place of the one that is there. Either it is stored whole, or the old one stays.
    func save(_ credential: Credential) throws

    /// Removes the credential, if there is one.
    func clear() throws
}

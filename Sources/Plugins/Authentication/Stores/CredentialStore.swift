// SPDX-License-Identifier: MIT

/// Stores the credential of an ``AuthenticationPlugin`` between launches of the app.
///
/// The plugin reads it once, before the first call that needs it, and writes each change, one operation at a time, never on the main
/// thread. A store belongs to one plugin: it does not notice changes by others.
public protocol CredentialStore<Credential>: Sendable {
    /// The type of the credential.
    associatedtype Credential: Sendable

    /// The stored credential; `nil` if there is none.
    ///
    /// - Throws: An error if it cannot be read. The call that needs it fails with this error, the next call tries again, and the
    ///   user stays signed in.
    func load() throws -> Credential?

    /// Replaces the stored credential, completely or not at all.
    func save(_ credential: Credential) throws

    /// Removes the stored credential, if there is one.
    func clear() throws
}

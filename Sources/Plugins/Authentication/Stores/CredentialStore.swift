// SPDX-License-Identifier: MIT

/// Stores the credential of an ``AuthenticationPlugin`` between launches of the app, for example in a file or in the
/// keychain.
///
/// ```swift
/// struct VaultStore: CredentialStore {
///     let vault: Vault
///
///     func load() async throws -> OAuthCredential? { try await vault.read("session") }
///     func save(_ credential: OAuthCredential) async throws { try await vault.write(credential, to: "session") }
///     func clear() async throws { try await vault.remove("session") }
/// }
/// ```
///
/// The plugin performs one operation at a time, never on the main thread. It reads the store before the first call that
/// needs the credential, before and after each refresh, and when the user signs in or out. Therefore several processes,
/// such as an app and its extension, can share a store. A credential that another process saved is used instead of
/// another refresh.
///
/// Each sign-in starts a session with a new identifier, which the plugin saves with the credential. With it, a process
/// distinguishes a refresh from a sign-in in another process, and a `ResponseCachePlugin` finds the responses of the
/// session after a launch. An ``OAuthCredential`` contains the identifier. A store for other credentials that several
/// processes share should implement ``loadSession()`` and ``save(_:session:)``. Without an identifier, a credential
/// that another process saved is assumed to belong to the same session.
public protocol CredentialStore<Credential>: Sendable {
    /// The type of the credential. Two credentials are equal if they are interchangeable.
    associatedtype Credential: Sendable & Equatable

    /// The stored credential; `nil` if there is none.
    ///
    /// - Throws: An error if the credential can't be read. The call fails with this error, the next call tries again,
    ///   and the user stays signed in.
    func load() async throws -> Credential?

    /// Replaces the stored credential atomically.
    func save(_ credential: Credential) async throws

    /// Removes the stored credential, if any.
    func clear() async throws

    /// The stored credential with the identifier of its session; `nil` if there is none.
    ///
    /// Default: the credential that ``load()`` returns, with an identifier if it is an ``OAuthCredential``.
    ///
    /// - Throws: The errors of ``load()``.
    func loadSession() async throws -> (credential: Credential, session: String?)?

    /// Replaces the stored credential and the identifier of its session atomically.
    ///
    /// Default: saves the credential with ``save(_:)``, including the identifier if it is an ``OAuthCredential``.
    func save(_ credential: Credential, session: String) async throws

    /// Runs a refresh, sign-in or sign-out while no other process that uses the store runs one.
    ///
    /// Without a lock, two processes may use the same refresh token at the same time, which some servers treat as theft
    /// (RFC 9700 §4.14.2). An implementation must run the refresh even if it can't acquire the lock within a few
    /// seconds, because the process that holds it may be suspended. Default: runs the refresh immediately, for a store
    /// of a single process.
    ///
    /// - Throws: Only the errors of the refresh.
    func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
}

extension CredentialStore {
    /// Runs the refresh immediately.
    public func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await refresh()
    }
}

// SPDX-License-Identifier: MIT

/// Stores the credential of an ``AuthenticationPlugin`` between launches of the app: in a file, in the keychain, or in
/// a vault on another machine.
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
/// The plugin performs one operation at a time, and none of them on the main thread. It reads the store before the
/// first call that needs the credential, before and after each refresh, and when it signs in or out. So several
/// processes, such as an app and its extension, can use one store: a credential that another process has saved is used
/// instead of another refresh.
///
/// Each sign-in begins a session with a new identifier, which the plugin saves with the credential. By it a process
/// distinguishes a refresh in another process from a sign-in there, and a `ResponseCachePlugin` finds the responses of
/// the session after a launch. An ``OAuthCredential`` contains the identifier. A store of other credentials that
/// several processes use implements ``loadSession()`` and ``save(_:session:)``; without an identifier, a credential
/// that another process has saved counts as one of the same session.
public protocol CredentialStore<Credential>: Sendable {
    /// The type of the credential. Two credentials are equal if they can be used in the same way.
    associatedtype Credential: Sendable & Equatable

    /// The stored credential; `nil` if there is none.
    ///
    /// - Throws: An error if it can't be read. The call that needs it fails with this error, the next call tries
    ///   again, and the user stays signed in.
    func load() async throws -> Credential?

    /// Replaces the stored credential, completely or not at all.
    func save(_ credential: Credential) async throws

    /// Removes the stored credential, if there is one.
    func clear() async throws

    /// The stored credential with the identifier of its session; `nil` if there is none.
    ///
    /// Default: the credential that ``load()`` returns, with an identifier if it is an ``OAuthCredential``.
    ///
    /// - Throws: As ``load()``.
    func loadSession() async throws -> (credential: Credential, session: String?)?

    /// Replaces the stored credential and the identifier of its session, completely or not at all.
    ///
    /// Default: saves the credential by ``save(_:)``, with the identifier if it is an ``OAuthCredential``.
    func save(_ credential: Credential, session: String) async throws

    /// Runs a refresh, a sign-in or a sign-out while no other process that uses the store runs one.
    ///
    /// Without it, two processes may use one refresh token at the same time, which some servers treat as theft (RFC
    /// 9700 §4.14.2). An implementation must run the refresh even if it can't get the lock within a few seconds,
    /// because the process that has it may be suspended. Default: runs the refresh at once, for a store of one process.
    ///
    /// - Throws: Only what the refresh throws.
    func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
}

extension CredentialStore {
    /// Runs the refresh at once.
    public func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await refresh()
    }
}

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
/// first call that needs the credential, before each refresh, and before it clears the store because a refresh was
/// refused. So several processes, such as an app and its extension, can use one store: a credential that another
/// process has saved is used instead of another refresh.
public protocol CredentialStore<Credential>: Sendable {
    /// The type of the credential. Two credentials are equal if they can be used in the same way.
    associatedtype Credential: Sendable & Equatable

    /// The stored credential; `nil` if there is none.
    ///
    /// - Throws: An error if it cannot be read. The call that needs it fails with this error, the next call tries again,
    ///   and the user stays signed in.
    func load() async throws -> Credential?

    /// Replaces the stored credential, completely or not at all.
    func save(_ credential: Credential) async throws

    /// Removes the stored credential, if there is one.
    func clear() async throws

    /// Runs a refresh while no other process that uses the store is refreshing.
    ///
    /// Without it, two processes may use one refresh token at the same time, which some servers treat as theft (RFC 9700
    /// §4.14.2). An implementation must run the refresh even if it cannot get the lock within a few seconds, because the
    /// process that has it may be suspended. Default: runs the refresh at once, for a store of one process.
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

/// How long a refresh waits for that of another process.
enum RefreshLock {
    /// After this time the refresh runs without the lock: the other process may be suspended.
    static let patience = Duration.seconds(10)
    /// The time between two attempts to get the lock.
    static let pause = Duration.milliseconds(20)

    /// Waits until the lock is taken, or the time is over.
    ///
    /// - Parameter take: Takes the lock; `nil` if another process has it.
    static func wait<Lock>(_ take: () -> Lock?) async throws -> Lock? {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            if let lock = take() { return lock }
            try await Task.sleep(for: pause)
        }
        return nil
    }
}

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

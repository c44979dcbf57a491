// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A store in memory, which the plugins of a test can share.
package final class MemoryCredentialStore<Credential: Sendable & Equatable>: CredentialStore {
    private let contents: Locked<(credential: Credential, session: String?)?>

    /// Creates a store with a credential; default: none.
    package init(_ credential: Credential? = nil) {
        contents = Locked(credential.map { ($0, nil) })
    }

    /// The credential.
    package func load() -> Credential? { loadSession()?.credential }

    /// The credential with the identifier of its session.
    package func loadSession() -> (credential: Credential, session: String?)? { contents.withLock(\.self) }

    /// Stores the credential.
    package func save(_ credential: Credential) { contents.withLock { $0 = (credential, nil) } }

    /// Stores the credential and the identifier of its session.
    package func save(_ credential: Credential, session: String) {
        contents.withLock { $0 = (credential, session) }
    }

    /// Removes the credential.
    package func clear() { contents.withLock { $0 = nil } }
}

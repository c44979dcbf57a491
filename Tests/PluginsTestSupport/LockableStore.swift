// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A store of a token that can't be used while it is locked, like a keychain while the device is locked.
package final class LockableStore: CredentialStore {
    package struct IsLocked: Error {}

    private let contents = MemoryCredentialStore<Token>()
    private let isLocked = Locked(false)
    private let savesSessions: Bool

    /// - Parameter savesSessions: Whether it stores the identifier of a session.
    package init(savesSessions: Bool = true) {
        self.savesSessions = savesSessions
    }

    package func setLocked(_ isLocked: Bool) { self.isLocked.withLock { $0 = isLocked } }

    private func check() throws {
        if isLocked.withLock(\.self) { throw IsLocked() }
    }

    package func load() throws -> Token? {
        try check()
        return contents.load()
    }

    package func loadSession() throws -> (credential: Token, session: String?)? {
        try check()
        return contents.loadSession()
    }

    package func save(_ token: Token) throws {
        try check()
        contents.save(token)
    }

    package func save(_ token: Token, session: String) throws {
        try check()
        if savesSessions { contents.save(token, session: session) } else { contents.save(token) }
    }

    package func clear() throws {
        try check()
        contents.clear()
    }
}

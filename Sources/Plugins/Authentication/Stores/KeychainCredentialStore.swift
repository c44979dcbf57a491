// SPDX-License-Identifier: MIT
#if canImport(Security)
import Foundation
import Security
import TargetKit

/// Keeps the credential in the keychain of Apple platforms, as a generic password of this device only. It is available
/// after the first unlock, also in the background.
///
/// Before the first unlock ``load()`` throws an error: the call fails, and the user stays signed in.
///
/// macOS has two keychains (Apple's TN3137). The data protection keychain, which works like that of iOS, requires an
/// entitlement for a keychain access group. A program without one, for example a command-line tool, uses the login
/// keychain, which doesn't support this protection: the item is readable while that keychain is unlocked. A program
/// that gains the entitlement later starts without a credential.
///
/// An app and its extension can share the item: give both the same `accessGroup`. While one of them refreshes the
/// credential, the other waits; for that, a second item is added and removed.
public struct KeychainCredentialStore<Credential: Codable & Sendable & Equatable>: CredentialStore {
    private let service: String
    private let account: String
    private let accessGroup: String?

    /// Creates a store for the keychain item with a service and account.
    ///
    /// - Parameters:
    ///   - service: Default `nil`: the access group, which an app and its extension have in common; without one, the
    ///     bundle's identifier, or the name of the process.
    ///   - account: Distinguishes several credentials of one app; default `credential`.
    ///   - accessGroup: The group of apps that share the item; default `nil`: only this app.
    public init(
        service: String? = nil,
        account: String = "credential",
        accessGroup: String? = nil
    ) {
        self.service =
            service ?? accessGroup ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        self.account = account
        self.accessGroup = accessGroup
    }

    /// The credential in the item; `nil` if there is no item.
    ///
    /// - Throws: As ``loadSession()``.
    public func load() async throws -> Credential? {
        try await loadSession()?.credential
    }

    /// The credential in the item, with the identifier of its session; `nil` if there is no item.
    ///
    /// - Throws: An error with the status of the Security framework, `errSecDecode` if the item contains something
    ///   else.
    public func loadSession() async throws -> (credential: Credential, session: String?)? {
        var item: CFTypeRef?
        let status = status { query in
            let search = query.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
            return SecItemCopyMatching(search as CFDictionary, &item)
        }
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = item as? Data else { throw KeychainError(status: status) }
        do {
            return try StoredSession<Credential>.read(data)
        } catch {
            // The decoder's error may quote the item.
            throw KeychainError(status: errSecDecode)
        }
    }

    /// Changes the item, or adds it, without the identifier of a session.
    ///
    /// - Throws: As ``save(_:session:)``.
    public func save(_ credential: Credential) async throws {
        try write(credential)
    }

    /// Changes the item, or adds it.
    ///
    /// - Throws: An error with the status of the Security framework, `errSecParam` if the credential can't be
    ///   encoded, `errSecMissingEntitlement` if the program may not use the access group.
    public func save(_ credential: Credential, session: String) async throws {
        try write(StoredSession(credential: credential, session: session))
    }

    private func write(_ contents: some Encodable) throws {
        guard let data = try? JSONEncoder().encode(contents) else { throw KeychainError(status: errSecParam) }
        let status = status { query in Self.write(data, to: query) }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    /// Removes the item.
    ///
    /// - Throws: An error with the status of the Security framework.
    public func clear() async throws {
        let status = status { query in SecItemDelete(query as CFDictionary) }
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
    }

    /// Runs the refresh while no other process refreshes the credential in this access group. It waits for a process
    /// that runs for a minute, and for a suspended one for ten seconds, and then runs the refresh nevertheless. Without
    /// an access group, runs it at once.
    public func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard accessGroup != nil else { return try await refresh() }
        let lock = RefreshLock(ContinuousClock())
        let isTaken = try await lock.wait({ takesLock() ? true : nil }, sign: { lockSign }) ?? false
        // Another process has the lock, or ended without releasing it: the item must not remain.
        if !isTaken { removeLock() }
        defer { if isTaken { removeLock() } }
        return try await lock.showingSigns(
            { _ = SecItemUpdate(lockQuery as CFDictionary, [kSecValueData: $0] as CFDictionary) },
            while: refresh
        )
    }

    private var lockSign: Data? {
        var item: CFTypeRef?
        let search = lockQuery.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
        return SecItemCopyMatching(search as CFDictionary, &item) == errSecSuccess ? item as? Data : nil
    }

    /// Adds the item that serves as the lock. Only an existing item prevents the refresh; other errors are ignored.
    private func takesLock() -> Bool {
        let protection = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        let attributes = lockQuery.merging([kSecValueData: Data(), kSecAttrAccessible: protection]) { $1 }
        return SecItemAdd(attributes as CFDictionary, nil) != errSecDuplicateItem
    }

    private func removeLock() {
        _ = SecItemDelete(lockQuery as CFDictionary)
    }

    private var lockQuery: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: account + ".lock",
            kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query
    }

    private static func write(_ data: Data, to query: [CFString: Any]) -> OSStatus {
        var content: [CFString: Any] = [kSecValueData: data]
        if query[kSecUseDataProtectionKeychain] != nil {
            content[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        }
        var status = errSecItemNotFound
        // Another process, for example an app extension, may add or remove the item between the two calls.
        for _ in 1...3 {
            status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
            guard status == errSecItemNotFound else { break }
            status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
            guard status == errSecDuplicateItem else { break }
        }
        return status
    }

    /// The status of an operation on the item in the data protection keychain or, if the program lacks the entitlement
    /// for it, in the login keychain. Access groups exist only in the data protection keychain.
    private func status(of operation: (_ query: [CFString: Any]) -> OSStatus) -> OSStatus {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: account,
            kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        let status = operation(query)
        guard status == errSecMissingEntitlement, accessGroup == nil else { return status }
        query[kSecUseDataProtectionKeychain] = nil
        return operation(query)
    }
}

/// An error of the keychain for a ``KeychainCredentialStore``.
struct KeychainError: Error, Sendable, Hashable {
    /// The code of the Security framework; `errSecInteractionNotAllowed` before the device was first unlocked.
    let status: OSStatus
}

extension KeychainError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// The system's description of the code, in one line.
    var description: String {
        "keychain: \(SecCopyErrorMessageString(status, nil) as String? ?? "unknown error") (\(status))"
    }

    /// The description.
    var errorDescription: String? { description }
}
#endif

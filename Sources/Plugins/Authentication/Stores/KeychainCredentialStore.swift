// SPDX-License-Identifier: MIT
#if canImport(Security)
import Security
import TargetKit

/// Stores the credential in the keychain of Apple platforms, as a generic password of this device only. It is available
/// after the first unlock, including in the background.
///
/// Before the first unlock, ``load()`` throws an error. The call fails, but the user stays signed in.
///
/// macOS has two keychains (Apple's TN3137). The data protection keychain, which works like that of iOS, requires an
/// entitlement for a keychain access group. A program without one, for example a command-line tool, uses the login
/// keychain, which doesn't support this protection: the item is readable while that keychain is unlocked. A program
/// that gains the entitlement later starts without a credential.
///
/// An app and its extension can share the item if both have the same `accessGroup`. While one of them refreshes the
/// credential, the other waits, using a second, temporary item.
public struct KeychainCredentialStore<Credential: Codable & Sendable & Equatable>: CredentialStore {
    private let service: String
    private let account: String
    private let accessGroup: String?

    /// Creates a store for the keychain item with a service and account.
    ///
    /// - Parameters:
    ///   - service: The service; default `nil`: the access group, which an app and its extension share, or else the
    ///     bundle's identifier or the name of the process.
    ///   - account: Distinguishes several credentials of an app; default: `credential`.
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
    /// - Throws: The errors of ``loadSession()``.
    public func load() async throws -> Credential? {
        try await loadSession()?.credential
    }

    /// The credential in the item, with the identifier of its session; `nil` if there is no item.
    ///
    /// - Throws: An error with the status of the Security framework, for example `errSecDecode` if the item doesn't
    ///   contain a credential.
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

    /// Updates or adds the item, without the identifier of a session.
    ///
    /// - Throws: The errors of ``save(_:session:)``.
    public func save(_ credential: Credential) async throws {
        try write(credential)
    }

    /// Updates or adds the item.
    ///
    /// - Throws: An error with the status of the Security framework, for example `errSecParam` if the credential can't
    ///   be encoded, or `errSecMissingEntitlement` if the program may not use the access group.
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

    /// Runs the refresh while no other process refreshes the credential in this access group. It waits up to one minute
    /// for a running process, or ten seconds for a suspended one, and then runs the refresh in any case. Without an
    /// access group, it runs the refresh immediately.
    public func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard accessGroup != nil else { return try await refresh() }
        let lock = RefreshLock(ContinuousClock())
        let isTaken = try await lock.wait(takesLock, sign: { lockSign })
        // Another process holds the lock, or ended without releasing it, so the item must not remain.
        if !isTaken { removeLock() }
        defer { if isTaken { removeLock() } }
        return try await lock.showingSigns(
            { sign in
                let data = withUnsafeBytes(of: sign) { Data($0) }
                _ = SecItemUpdate(lockQuery as CFDictionary, [kSecValueData: data] as CFDictionary)
            },
            while: refresh
        )
    }

    private var lockSign: UInt64? {
        var item: CFTypeRef?
        let search = lockQuery.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
        guard SecItemCopyMatching(search as CFDictionary, &item) == errSecSuccess else { return nil }
        return (item as? Data)?.reduce(0) { $0 << 8 | UInt64($1) }
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
    /// The code of the Security framework, for example `errSecInteractionNotAllowed` before the first unlock.
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

// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

/// Keeps the credential in the keychain of Apple's systems, as a generic password: on this device alone, and readable since the
/// device was first unlocked, so that calls in the background have it.
///
/// Before the first unlock ``load()`` throws a ``KeychainError``: the call fails, and nobody is signed out.
public struct KeychainCredentialStore<Credential: Codable & Sendable>: CredentialStore {
    private let service: String
    private let account: String
    private let accessGroup: String?

    /// A store in the item of that name.
    ///
    /// - Parameters:
    ///   - service: Default: the bundle's identifier, or the name of the process.
    ///   - account: Tells several credentials of one app apart; default `credential`.
    ///   - accessGroup: The group of apps that share the item; default `nil`: this app alone.
    public init(
        service: String = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName,
        account: String = "credential",
        accessGroup: String? = nil
    ) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    /// The credential of the item; `nil` when there is no item.
    ///
    /// - Throws: ``KeychainError``; with `errSecDecode` when the item holds something else.
    public func load() throws -> Credential? {
        var query = query
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = item as? Data else { throw KeychainError(status: status) }
        do {
            return try JSONDecoder().decode(Credential.self, from: data)
        } catch {
            // The decoder's own words may quote the item.
            throw KeychainError(status: errSecDecode)
        }
    }

    /// Changes the item, or adds it.
    ///
    /// - Throws: ``KeychainError``; with `errSecParam` when the credential cannot be encoded.
    public func save(_ credential: Credential) throws {
        guard let data = try? JSONEncoder().encode(credential) else { throw KeychainError(status: errSecParam) }
        let content: [CFString: Any] = [
            kSecValueData: data,
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    /// Removes the item.
    ///
    /// - Throws: ``KeychainError``.
    public func clear() throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
    }

    private var query: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: account,
            // macOS has two keychains; this is the one that knows `kSecAttrAccessible`.
            kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query
    }
}
#endif

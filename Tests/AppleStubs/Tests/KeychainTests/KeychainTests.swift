// SPDX-License-Identifier: MIT
import Foundation
import Security
import Testing

@testable import Keychain

@Suite("Keychain credential store", .serialized)
struct KeychainTests {
    private let keychain = StubKeychain.shared
    private let store = KeychainCredentialStore<String>(service: "shop")

    init() {
        keychain.reset()
    }

    private let place = StubKeychain.Place(isDataProtection: true, service: "shop", account: "credential")
    private let loginPlace = StubKeychain.Place(isDataProtection: false, service: "shop", account: "credential")

    @Test("A saved credential is loaded, changed and cleared")
    func wholeLife() async throws {
        #expect(try await store.load() == nil)
        for credential in ["first", "second"] {
            try await store.save(credential)
            #expect(try await store.load() == credential)
        }
        try await store.clear()
        try await store.clear()
        #expect(try await store.load() == nil)
    }

    @Test("The identifier of the session is kept with the credential; an item without one has one of its own")
    func session() async throws {
        try await store.save("first", session: "s1")
        #expect(try await store.load() == "first")
        #expect(try await store.loadSession()?.session == "s1")
        try await store.save("second")
        let session = try await store.loadSession()?.session
        #expect(try await store.loadSession()?.session == session)
        #expect(session != "s1")
        try await store.save("third")
        #expect(try await store.loadSession()?.session != session)
    }

    @Test("An item that another process adds at the same time is changed")
    func duplicate() async throws {
        keychain.beforeAdding = { keychain.items[place] = Data("\"theirs\"".utf8) }
        try await store.save("ours")
        #expect(try await store.load() == "ours")
    }

    @Test("An item that another process removes and adds again is changed eventually")
    func duplicateThatIsRemoved() async throws {
        keychain.beforeAdding = {
            keychain.items[place] = Data("\"theirs\"".utf8)
            keychain.beforeUpdating = { keychain.items[place] = nil }
        }
        try await store.save("ours")
        #expect(try await store.load() == "ours")
    }

    @Test("An item that keeps appearing and disappearing is an error")
    func duplicateWithoutEnd() async throws {
        func add() {
            keychain.items[place] = Data("\"theirs\"".utf8)
            keychain.beforeUpdating = {
                keychain.items[place] = nil
                keychain.beforeAdding = add
            }
        }
        keychain.beforeAdding = add
        await #expect(throws: KeychainError(status: errSecDuplicateItem)) { try await store.save("ours") }
    }

    @Test("A program without entitlements uses the login keychain")
    func withoutEntitlements() async throws {
        keychain.isEntitled = false
        #expect(try await store.load() == nil)
        for credential in ["first", "second"] {
            try await store.save(credential)
            #expect(try await store.load() == credential)
        }
        #expect(keychain.items.keys.contains(loginPlace))
        try await store.clear()
        #expect(try await store.load() == nil)
        #expect(keychain.items.isEmpty)
    }

    @Test("A program with entitlements does not use the login keychain")
    func withEntitlements() async throws {
        keychain.items[loginPlace] = Data("\"other\"".utf8)
        #expect(try await store.load() == nil)
        try await store.save("ours")
        try await store.clear()
        #expect(keychain.items == [loginPlace: Data("\"other\"".utf8)])
    }

    @Test("An access group that the program may not use is an error")
    func accessGroup() async throws {
        keychain.isEntitled = false
        let store = KeychainCredentialStore<String>(service: "shop", accessGroup: "TEAM.shop")
        let missing = KeychainError(status: errSecMissingEntitlement)
        await #expect(throws: missing) { try await store.save("ours") }
        await #expect(throws: missing) { try await store.load() }
        await #expect(throws: missing) { try await store.clear() }
    }

    @Test("An app and its extension share the item of an access group, whatever their own names")
    func sharedService() async throws {
        let store = KeychainCredentialStore<String>(accessGroup: "TEAM.shop")
        try await store.save("ours")
        let place = StubKeychain.Place(isDataProtection: true, service: "TEAM.shop", account: "credential")
        #expect(keychain.items.keys.contains(place))
    }

    @Test("While one process refreshes, another one waits", arguments: ["TEAM.shop", nil])
    func refreshLock(_ accessGroup: String?) async throws {
        let store = KeychainCredentialStore<String>(service: "shop", accessGroup: accessGroup)
        let lock = StubKeychain.Place(isDataProtection: true, service: "shop", account: "credential.lock")
        let isLocked = try await store.withRefreshLock { StubKeychain.shared.items.keys.contains(lock) }
        #expect(isLocked == (accessGroup != nil))
        #expect(keychain.items.isEmpty)
        guard accessGroup != nil else { return }
        // Another process has the lock, and ends its refresh.
        keychain.beforeAdding = {
            StubKeychain.shared.items[lock] = Data()
            StubKeychain.shared.beforeAdding = { StubKeychain.shared.items[lock] = nil }
        }
        #expect(try await store.withRefreshLock { 7 } == 7)
        #expect(keychain.items.isEmpty)
    }
}

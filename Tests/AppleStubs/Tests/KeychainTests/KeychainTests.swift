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
    func wholeLife() throws {
        #expect(try store.load() == nil)
        for credential in ["first", "second"] {
            try store.save(credential)
            #expect(try store.load() == credential)
        }
        try store.clear()
        try store.clear()
        #expect(try store.load() == nil)
    }

    @Test("An item that another process adds at the same time is changed")
    func duplicate() throws {
        keychain.beforeAdding = { keychain.items[place] = Data("\"theirs\"".utf8) }
        try store.save("ours")
        #expect(try store.load() == "ours")
    }

    @Test("An item that another process removes and adds again is changed eventually")
    func duplicateThatIsRemoved() throws {
        keychain.beforeAdding = {
            keychain.items[place] = Data("\"theirs\"".utf8)
            keychain.beforeUpdating = { keychain.items[place] = nil }
        }
        try store.save("ours")
        #expect(try store.load() == "ours")
    }

    @Test("An item that keeps appearing and disappearing is an error")
    func duplicateWithoutEnd() throws {
        func add() {
            keychain.items[place] = Data("\"theirs\"".utf8)
            keychain.beforeUpdating = {
                keychain.items[place] = nil
                keychain.beforeAdding = add
            }
        }
        keychain.beforeAdding = add
        #expect(throws: KeychainError(status: errSecDuplicateItem)) { try store.save("ours") }
    }

    @Test("A program without entitlements uses the login keychain")
    func withoutEntitlements() throws {
        keychain.isEntitled = false
        #expect(try store.load() == nil)
        for credential in ["first", "second"] {
            try store.save(credential)
            #expect(try store.load() == credential)
        }
        #expect(keychain.items.keys.contains(loginPlace))
        try store.clear()
        #expect(try store.load() == nil)
        #expect(keychain.items.isEmpty)
    }

    @Test("A program with entitlements does not use the login keychain")
    func withEntitlements() throws {
        keychain.items[loginPlace] = Data("\"other\"".utf8)
        #expect(try store.load() == nil)
        try store.save("ours")
        try store.clear()
        #expect(keychain.items == [loginPlace: Data("\"other\"".utf8)])
    }

    @Test("An access group that the program may not use is an error")
    func accessGroup() throws {
        keychain.isEntitled = false
        let store = KeychainCredentialStore<String>(service: "shop", accessGroup: "TEAM.shop")
        let missing = KeychainError(status: errSecMissingEntitlement)
        #expect(throws: missing) { try store.save("ours") }
        #expect(throws: missing) { try store.load() }
        #expect(throws: missing) { try store.clear() }
    }
}

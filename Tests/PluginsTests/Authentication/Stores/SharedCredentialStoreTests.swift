// SPDX-License-Identifier: MIT
import PluginsTestSupport
@testable import TargetKitPlugins
import TestSupport
import Testing

/// The store by itself: what it says of other processes, and when.
@Suite("Authentication: the comparison with the store", .throttled, .timeLimit(.minutes(1)))
struct SharedCredentialStoreTests {
    private let store = LockableStore()
    /// The same store, for another process.
    private var others: any CredentialStore<Token> { store }
    /// Stores no identifiers of sessions.
    private let nameless = LockableStore(savesSessions: false)

    /// What another process does.
    enum Other: String, CaseIterable, Sendable {
        case nothing, refreshes, signsIn, signsOut
    }

    private func signedIn(_ store: LockableStore) async throws -> SharedCredentialStore<Token> {
        let shared = SharedCredentialStore(store)
        #expect(try await shared.load() == nil)
        try await shared.write(shared.begin((Token(1), "anna"), startsSession: true))
        return shared
    }

    private func text(_ comparison: SharedCredentialStore<Token>.Comparison) -> String {
        switch comparison {
        case .same: "same"
        case .refreshed(let other, let isSameSession): "refreshed \(other.credential.number) \(isSameSession)"
        case .replaced(let other): "replaced \(other.credential.number)"
        case .cleared: "cleared"
        }
    }

    @Test(
        "It tells a refresh, a sign-in and a sign-out of another process apart",
        arguments: zip(Other.allCases, ["same", "refreshed 2 true", "replaced 2", "cleared"])
    )
    func kinds(_ other: Other, _ expected: String) async throws {
        let shared = try await signedIn(store)
        switch other {
        case .nothing: break
        case .refreshes: try await others.save(Token(2), session: "anna")
        case .signsIn: try await others.save(Token(2), session: "bert")
        case .signsOut: try store.clear()
        }
        let owner = CredentialSession(id: "anna")
        for _ in 0..<2 { #expect(text(try await shared.comparison(with: Token(1), of: owner)) == expected) }
    }

    @Test("Without identifiers, it doesn't say that a credential belongs to the session")
    func unidentified() async throws {
        let shared = try await signedIn(nameless)
        try nameless.save(Token(2))
        let comparison = try await shared.comparison(with: Token(1), of: CredentialSession(id: "anna"))
        #expect(text(comparison) == "refreshed 2 false")
    }

    @Test("It says nothing while a change is pending or couldn't be stored", arguments: [false, true])
    func pending(_ fails: Bool) async throws {
        let shared = try await signedIn(store)
        let change = shared.begin((Token(2), "anna"))
        if fails {
            store.setLocked(true)
            await #expect(throws: LockableStore.IsLocked.self) { try await shared.write(change) }
            store.setLocked(false)
        }
        try await others.save(Token(3), session: "bert")
        let owner = CredentialSession(id: "anna")
        #expect(text(try await shared.comparison(with: Token(2), of: owner)) == "same")
        // The session of another user isn't overwritten.
        try await shared.writeUnsaved()
        #expect(try store.load() == Token(3))
        let expected = fails ? "replaced 3" : "same"
        #expect(text(try await shared.comparison(with: Token(2), of: owner)) == expected)
    }

    @Test("A change that couldn't be stored is stored later, unless another one follows", arguments: [false, true])
    func unsaved(_ follows: Bool) async throws {
        let shared = try await signedIn(store)
        let change = shared.begin((Token(2), "anna"))
        store.setLocked(true)
        await #expect(throws: LockableStore.IsLocked.self) { try await shared.write(change) }
        try await shared.writeUnsaved()
        store.setLocked(false)
        if follows { try await shared.write(shared.begin(nil, startsSession: true)) }
        try await shared.writeUnsaved()
        #expect(try store.load() == (follows ? nil : Token(2)))
    }

    @Test("A sign-out of another process isn't undone by a change that couldn't be stored")
    func unsavedAfterSignOut() async throws {
        let shared = try await signedIn(store)
        store.setLocked(true)
        await #expect(throws: LockableStore.IsLocked.self) { try await shared.write(shared.begin((Token(2), "anna"))) }
        store.setLocked(false)
        try store.clear()
        try await shared.writeUnsaved()
        #expect(try store.load() == nil)
        #expect(text(try await shared.comparison(with: Token(2), of: CredentialSession(id: "anna"))) == "cleared")
    }
}

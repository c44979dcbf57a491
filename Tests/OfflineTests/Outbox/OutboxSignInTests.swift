// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Whose a call of an outbox is when the credential can't be read, and when the account and the credential change in
/// each order. Tokens up to 100 are Ann's, the others Bob's.
@Suite("An outbox: sign-ins and accounts", .throttled, .timeLimit(.minutes(2)))
struct OutboxSignInTests {
    private typealias Authentication = AuthenticationPlugin<TokenAuthenticator>

    private let server = NoteServer()
    private let clock = ManualClock()
    private let connectivity = ManualConnectivity(.offline)
    private let online = Reachability.Status.online(.wifi, isExpensive: false)
    private let signOuts = SignOuts()
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("notes.outbox") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func plugin(_ store: any CredentialStore<Token>) -> Authentication {
        signOuts.plugin(TokenAuthenticator(), store)
    }

    /// - Parameter isOffline: Whether it stays offline, as the outbox of a process that has ended.
    private func outbox(
        _ plugin: any Plugin,
        account: String? = nil,
        isOffline: Bool = false
    ) throws -> OfflineOutbox<Note> {
        try OfflineOutbox(
            Provider(transport: server, plugins: [plugin]),
            storedIn: file,
            account: account,
            reachability: Reachability(isOffline ? ManualConnectivity(.offline) : connectivity),
            clock: clock
        )
    }

    /// The credentials with which the first note was sent.
    private var users: [String?] { server.sent.elements.filter { $0.number == 1 }.map(\.user) }

    /// Gives the outbox the time to send, and changes nothing else.
    private func passTime() async throws {
        for _ in 1...100 {
            try Task.checkCancellation()
            clock.advance(by: .seconds(30))
            await Task.yield()
        }
    }
}

// MARK: - A credential that can't be read

extension OutboxSignInTests {
    /// A process whose keychain is locked, and holds Ann's token.
    private func locked(savesSessions: Bool = true) async throws -> (LockableStore, Authentication) {
        let store = LockableStore(savesSessions: savesSessions)
        try await plugin(store).signIn(Token(1))
        store.setLocked(true)
        return (store, plugin(store))
    }

    @Test(
        "A call that was kept while the keychain was locked is sent with the credential that was locked",
        arguments: ["ann", nil],
        [true, false]
    )
    func unlocked(account: String?, savesSessions: Bool) async throws {
        let (store, plugin) = try await locked(savesSessions: savesSessions)
        let outbox = try outbox(plugin, account: account)
        try await outbox.keep(Note(1))
        connectivity.set(online)
        while outbox.entries.first?.lastError == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        store.setLocked(false)
        try await outbox.shows([], moving: clock)
        #expect(users == ["Bearer token-1"])
    }

    @Test(
        "A call that was kept while the keychain was locked isn't sent for the next user, nor as a guest",
        arguments: ["ann", nil],
        [true, false]
    )
    func nextUser(account: String?, isSignedOut: Bool) async throws {
        let (store, plugin) = try await locked()
        let outbox = try outbox(plugin, account: account)
        try await outbox.keep(Note(1))
        store.setLocked(false)
        if isSignedOut {
            // Online before, the call could be sent for its user.
            try await plugin.signOut()
            connectivity.set(online)
            try await outbox.passDelays(of: clock)
        }
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        #expect(outbox.shown.count == 1)
        // The calls of the next user aren't held up.
        if account == nil { #expect(try await outbox.send(Note(2)).statusCode == 200) }
    }

    @Test("After a relaunch, a call that was kept while the keychain was locked waits for the account's sign-in")
    func relaunch() async throws {
        let (store, locked) = try await locked()
        try await outbox(locked, account: "ann", isOffline: true).keep(Note(1))
        store.setLocked(false)
        // Another process has signed Bob in.
        try await plugin(store).signIn(Token(101))
        let plugin = plugin(store)
        let outbox = try outbox(plugin, account: "ann")
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        outbox.account = nil
        outbox.account = "ann"
        try await plugin.signIn(Token(2))
        try await outbox.shows([], moving: clock)
        #expect(users == ["Bearer token-2"])
    }

    @Test("A call that was kept after the session had ended isn't sent for the next user", arguments: ["ann", nil])
    func endedSession(account: String?) async throws {
        let authenticator = TokenAuthenticator(renew: { _ in throw OAuthError.noRefreshToken })
        let plugin = signOuts.plugin(authenticator, holding: 1)
        let outbox = try outbox(plugin, account: account)
        server.answer(9, .status(401))
        _ = await #expect(throws: TargetKitError.self) {
            try await Provider<Note>(transport: server, plugins: [plugin]).request(Note(9))
        }
        try #require(signOuts.count == 1)
        try await outbox.keep(Note(1))
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(users == [])
    }

    @Test("A call that a cancelled task keeps isn't sent for the next user")
    func cancelledTask() async throws {
        let store = LockableStore()
        try await plugin(store).signIn(Token(1))
        let plugin = plugin(store)
        let outbox = try outbox(plugin)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await outbox.keep(Note(1))
        }
        try await task.value
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(users == [])
    }
}

// MARK: - The account and the credential

extension OutboxSignInTests {
    /// How Ann's account was set.
    enum AccountSetting: CaseIterable, Sendable {
        case atLaunch, atLaunchAndAgain, beforeSignIn, afterSignIn, forStoredSession
    }

    @Test(
        "A call isn't sent for the next user, who signs in before the app sets the account",
        arguments: AccountSetting.allCases
    )
    func wrongOrder(_ setting: AccountSetting) async throws {
        let store = MemoryCredentialStore<Token>()
        if setting == .forStoredSession { try await plugin(store).signIn(Token(1)) }
        let plugin = plugin(store)
        let outbox = try outbox(plugin, account: [.atLaunch, .atLaunchAndAgain].contains(setting) ? "ann" : nil)
        switch setting {
        case .atLaunch, .atLaunchAndAgain: try await plugin.signIn(Token(1))
        case .beforeSignIn:
            outbox.account = "ann"
            try await plugin.signIn(Token(1))
        case .afterSignIn:
            try await plugin.signIn(Token(1))
            outbox.account = "ann"
        case .forStoredSession: outbox.account = "ann"
        }
        // The app is active.
        outbox.sendNow()
        try await outbox.keep(Note(1))
        if setting == .atLaunchAndAgain { outbox.account = "ann" }
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(users == [])
        outbox.account = "bob"
        try await outbox.passDelays(of: clock)
        #expect(users == [])
    }

    @Test("A call that an account's signed-out user kept isn't sent for the next user")
    func accountWithoutCredential() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugin, account: "ann")
        try await outbox.keep(Note(1))
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(users == [])
    }

    @Test(
        "A call is sent in the account's next session, in either order of account and sign-in",
        arguments: [true, false]
    )
    func nextSession(isAccountFirst: Bool) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugin)
        outbox.account = "ann"
        try await plugin.signIn(Token(1))
        try await outbox.keep(Note(1))
        // Bob's session between.
        outbox.account = "bob"
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await passTime()
        #expect(users == [])
        if isAccountFirst { outbox.account = "ann" }
        try await plugin.signIn(Token(2))
        if !isAccountFirst { outbox.account = "ann" }
        outbox.sendNow()
        try await outbox.shows([], moving: clock)
        #expect(users == ["Bearer token-2"])
    }

    @Test("A call between the change of account and the sign-in waits for the sign-in, also after a relaunch")
    func between() async throws {
        let store = MemoryCredentialStore<Token>()
        let first = plugin(store)
        try await first.signIn(Token(101))
        do {
            let outbox = try outbox(first, account: "bob", isOffline: true)
            outbox.account = "ann"
            try await outbox.keep(Note(1))
        }
        let plugin = plugin(store)
        let outbox = try outbox(plugin, account: "ann")
        connectivity.set(online)
        try await passTime()
        #expect(users == [])
        outbox.account = nil
        outbox.account = "ann"
        try await plugin.signIn(Token(1))
        try await outbox.shows([], moving: clock)
        #expect(users == ["Bearer token-1"])
    }

    @Test(
        "A call that is sent between the change of account and the sign-in doesn't lend its user to the account's calls"
    )
    func sentBetween() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugin)
        outbox.account = "ann"
        try await plugin.signIn(Token(1))
        try await outbox.keep(Note(1))
        outbox.account = "bob"
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        #expect(try await outbox.send(Note(2)).statusCode == 200)
        outbox.account = "ann"
        server.answer(3, .failure(.networkConnectionLost))
        _ = try await outbox.send(Note(3, group: "other"))
        try await passTime()
        #expect(users == [])
        try await plugin.signIn(Token(2))
        try await outbox.shows([], moving: clock)
        #expect(users == ["Bearer token-2"])
    }

    @Test("A call is sent after a launch when the app sets its account again, and the user signs in")
    func setAgain() async throws {
        do {
            let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
            let outbox = try outbox(plugin, account: "ann", isOffline: true)
            try await plugin.signIn(Token(1))
            try await outbox.keep(Note(1))
        }
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugin, account: "ann")
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(users == [])
        outbox.account = "ann"
        try await plugin.signIn(Token(2))
        try await outbox.shows([], moving: clock)
        #expect(users == ["Bearer token-2"])
    }
}

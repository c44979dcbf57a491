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

/// With whose credential an outbox sends a call.
@Suite("An outbox: owners", .throttled, .timeLimit(.minutes(2)))
struct OutboxOwnerTests {
    private let server = NoteServer()
    private let clock = ManualClock()
    private let connectivity = ManualConnectivity(.offline)
    private let online = Reachability.Status.online(.wifi, isExpensive: false)
    private let store = MemoryCredentialStore<Token>()
    private let signOuts = SignOuts()
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("notes.outbox") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func plugin() -> AuthenticationPlugin<TokenAuthenticator> {
        signOuts.plugin(TokenAuthenticator(), store)
    }

    private func outbox(_ plugin: any Plugin, account: String? = nil) throws -> OfflineOutbox<Note> {
        try OfflineOutbox(
            Provider(transport: server, plugins: [plugin]),
            storedIn: file,
            account: account,
            reachability: Reachability(connectivity),
            clock: clock
        )
    }

    /// The credentials with which a note was sent.
    private func users(of number: Int) -> [String?] {
        server.sent.elements.filter { $0.number == number }.map(\.user)
    }

    @Test("An order isn't sent for the user whom another process signed in", arguments: ["ann", nil])
    func otherProcess(account: String?) async throws {
        let (here, there) = (plugin(), plugin())
        try await here.signIn(Token(1))
        let outbox = try outbox(here, account: account)
        try await outbox.keep(Note(1))
        try await there.signIn(Token(101))
        server.answer(1, .status(401), .status(200))
        connectivity.set(online)
        await server.sent.waitForCount(1)
        try await outbox.passDelays(of: clock)
        // The rejection makes it read the store.
        while try await here.credential != Token(101) {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(users(of: 1) == ["Bearer token-1"])
        #expect(outbox.entries.count == 1)
        // The calls of the new user aren't held up.
        if account == nil { #expect(try await outbox.send(Note(2)).statusCode == 200) }
    }

    @Test(
        "A waiting order of the next user isn't sent with the credential of the one before",
        arguments: [false, true]
    )
    func accountFirst(hasOwner: Bool) async throws {
        let plugin = plugin()
        let outbox = try outbox(plugin, account: "bob")
        if hasOwner { try await plugin.signIn(Token(21)) }
        try await outbox.keep(Note(2))
        outbox.account = "ann"
        try await plugin.signIn(Token(1))
        connectivity.set(online)
        #expect(try await outbox.send(Note(1)).statusCode == 200)
        // As documented: first the account, then the credentials.
        outbox.account = "bob"
        // An order of the time between.
        try await outbox.keep(Note(3))
        for _ in 1...200 {
            clock.advance(by: .seconds(30))
            await Task.yield()
        }
        #expect(users(of: 2) == [])
        #expect(users(of: 3) == [])
        try await plugin.signIn(Token(22))
        try await outbox.shows([], moving: clock)
        #expect(users(of: 2) == ["Bearer token-22"])
        #expect(users(of: 3) == ["Bearer token-22"])
        #expect(users(of: 1) == ["Bearer token-1"])
    }

    @Test("An order that was kept before the app set the account is sent when the app says so")
    func credentialsFirst() async throws {
        let plugin = plugin()
        let outbox = try outbox(plugin, account: "ann")
        try await plugin.signIn(Token(21))
        outbox.account = "bob"
        try await outbox.keep(Note(1))
        connectivity.set(online)
        for _ in 1...100 {
            clock.advance(by: .seconds(30))
            await Task.yield()
        }
        #expect(users(of: 1) == [])
        outbox.sendNow()
        try await outbox.shows([], moving: clock)
        #expect(users(of: 1) == ["Bearer token-21"])
    }

    /// An authenticator that knows its users, each of whom has a hundred tokens.
    private struct UserAuthenticator: Authenticator {
        func apply(_ token: Token, to request: inout URLRequest) {
            request.setValue(token.field, forHTTPHeaderField: "Authorization")
        }

        func refresh(_ token: Token) async throws -> Token { Token(token.number + 1) }
        func user(of token: Token) -> String? { "\(token.number / 100)" }
    }

    @Test("An order is only sent for the user whom the authenticator names", arguments: ["ann", nil])
    func namedUser(account: String?) async throws {
        let plugin = AuthenticationPlugin(authenticator: UserAuthenticator(), store: store) { _ in }
        try await plugin.signIn(Token(1))
        let outbox = try outbox(plugin, account: account)
        try await outbox.keep(Note(1))
        // The wrong order: the account isn't set.
        try await plugin.signIn(Token(101))
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        try await plugin.signIn(Token(7))
        try await outbox.shows([], moving: clock)
        #expect(users(of: 1) == ["Bearer token-7"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("user 0"))
    }

    @Test("An order without an account isn't sent for the next user, whose own orders are")
    func withoutAccount() async throws {
        let plugin = plugin()
        try await plugin.signIn(Token(1))
        let outbox = try outbox(plugin)
        try await outbox.keep(Note(1))
        try await plugin.signOut()
        try await plugin.signIn(Token(101))
        try await outbox.keep(Note(2))
        connectivity.set(online)
        try await outbox.shows(["1 waiting"], moving: clock)
        try await outbox.passDelays(of: clock)
        #expect(users(of: 1) == [])
        #expect(users(of: 2) == ["Bearer token-101"])
        #expect(outbox.shown.count == 1)
    }

    @Test("An order isn't sent as a guest after the sign-out")
    func signedOut() async throws {
        let plugin = plugin()
        try await plugin.signIn(Token(1))
        let outbox = try outbox(plugin, account: "ann")
        try await outbox.keep(Note(1))
        try await plugin.signOut()
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        outbox.account = nil
        outbox.account = "ann"
        try await plugin.signIn(Token(2))
        try await outbox.shows([], moving: clock)
        #expect(users(of: 1) == ["Bearer token-2"])
    }

    @Test("An order is sent after a refresh, after a relaunch, and after the user signed in again", arguments: 0...2)
    func sameUser(_ change: Int) async throws {
        var plugin = plugin()
        try await plugin.signIn(Token(1))
        var outbox = try outbox(plugin, account: "ann")
        try await outbox.keep(Note(1))
        server.answer(1, .status(401), .status(200))
        if change == 1 {
            // The process of the next launch.
            plugin = self.plugin()
            outbox = try self.outbox(plugin, account: "ann")
        }
        if change == 2 {
            // As documented: at the end of the session, and before the next sign-in.
            outbox.account = nil
            outbox.account = "ann"
            try await plugin.signIn(Token(5))
        }
        connectivity.set(online)
        try await outbox.shows([], moving: clock)
        #expect(users(of: 1) == (change == 2 ? [5, 6] : [1, 2]).map { "Bearer token-\($0)" })
    }

    @Test("A first attempt that fails belongs to the user with whose credential it was made")
    func firstAttempt() async throws {
        let plugin = plugin()
        try await plugin.signIn(Token(1))
        connectivity.set(online)
        server.answer(1, .failure(.networkConnectionLost), .status(200))
        let outbox = try outbox(plugin)
        #expect(try await outbox.send(Note(1)).id != nil)
        try await plugin.signIn(Token(101))
        try await outbox.passDelays(of: clock)
        #expect(users(of: 1) == ["Bearer token-1"])
    }

    @Test("A waiting order keeps its owner when its file is rewritten")
    func owner() async throws {
        let plugin = plugin()
        try await plugin.signIn(Token(1))
        do {
            let outbox = try outbox(plugin)
            let id = try await outbox.keep(Note(1))
            // Until the file is rewritten.
            for _ in 1...130 { try await outbox.move(id) }
        }
        try await plugin.signIn(Token(101))
        let next = try outbox(plugin)
        connectivity.set(online)
        try await next.passDelays(of: clock)
        #expect(server.sent.count == 0)
    }

    @Test("An order is only sent with a signature of the user whose key it was kept with", arguments: [false, true])
    func signature(isRelaunched: Bool) async throws {
        let user = Locked("ann")
        let plugin = RequestSigningPlugin(fields: ["Authorization"], owner: { _ in user.withLock(\.self) }) { _, _ in
            ["Authorization": "Key \(user.withLock(\.self))"]
        }
        var outbox = try outbox(plugin)
        try await outbox.keep(Note(1))
        if isRelaunched { outbox = try self.outbox(plugin) }
        user.withLock { $0 = "bob" }
        connectivity.set(online)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        user.withLock { $0 = "ann" }
        try await outbox.shows([], moving: clock)
        #expect(users(of: 1) == ["Key ann"])
    }
}

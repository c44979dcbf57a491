// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
@testable import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

/// How the plugin uses its store.
@Suite("Authentication: the store", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationStoreTests {
    /// A store that fails on demand.
    private final class FailingStore: CredentialStore {
        let credential = Locked<Token?>(Token(1))
        let isBroken = Locked(false)
        /// Whether it cannot be written, while it can be read.
        let isReadOnly = Locked(false)
        let loads = Tally()

        private func check() throws {
            if isBroken.withLock({ $0 }) { throw Boom() }
        }

        private func checkWriting() throws {
            try check()
            if isReadOnly.withLock({ $0 }) { throw Boom() }
        }

        func load() throws -> Token? {
            loads.add()
            try check()
            return credential.withLock { $0 }
        }

        func save(_ token: Token) throws {
            try checkWriting()
            credential.withLock { $0 = token }
        }

        func clear() throws {
            try checkWriting()
            credential.withLock { $0 = nil }
        }
    }

    /// A store that answers when the test says so, such as a vault on another machine.
    private struct SlowStore: CredentialStore {
        let gate = Gate()
        let loads = Tally()

        func load() async throws -> Token? {
            loads.add()
            await gate.wait()
            return Token(1)
        }

        func save(_ token: Token) async throws { await gate.wait() }
        func clear() async throws { await gate.wait() }
    }

    private let signOuts = SignOuts()
    private let store = FailingStore()

    /// A plugin that uses the store.
    ///
    /// - Parameters:
    ///   - refreshSucceeds: Whether the server refreshes the token.
    ///   - failures: Gets the errors of the store.
    private func plugin(
        _ server: TokenServer,
        refreshSucceeds: Bool = true,
        failures: Recorder<any Error> = Recorder()
    ) -> AuthenticationPlugin<TokenAuthenticator> {
        let authenticator = TokenAuthenticator { token in
            guard refreshSucceeds else { throw OAuthError.noRefreshToken }
            return server.renew(token)
        }
        return signOuts.plugin(authenticator, store, onStoreFailure: { failures.append($0) })
    }

    /// A provider whose calls that server answers.
    private func provider(
        _ server: TokenServer,
        _ plugin: AuthenticationPlugin<TokenAuthenticator>
    ) -> Provider<PluginTarget> {
        Provider(transport: server.transport, plugins: [plugin])
    }

    @Test("The store is read at the first call that needs it, and again only by a refresh")
    func readsOnce() async throws {
        let server = TokenServer(good: 1)
        let plugin = plugin(server)
        let provider = provider(server, plugin)
        _ = try await provider.request(PluginTarget(authorization: .none))
        #expect(store.loads.value == 0)
        for _ in 0..<3 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        #expect(store.loads.value == 1)
    }

    @Test("A store that cannot be read fails the call without a sign-out, and is read again by the next call")
    func unreadable() async throws {
        let server = TokenServer(good: 1)
        let plugin = plugin(server)
        let provider = provider(server, plugin)
        store.isBroken.withLock { $0 = true }
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying is Boom)
        await #expect(throws: Boom.self) { try await plugin.credential }
        store.isBroken.withLock { $0 = false }
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(signOuts.count == 0)
    }

    @Test("A new credential is stored before the calls that waited for it end")
    func stored() async throws {
        let server = TokenServer()
        let plugin = plugin(server)
        let provider = provider(server, plugin)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(store.credential.withLock { $0 } == Token(2))
    }

    @Test("A store that cannot be written is reported, and the calls go on", arguments: [true, false])
    func unwritable(_ refreshSucceeds: Bool) async throws {
        let server = TokenServer()
        let failures = Recorder<any Error>()
        let plugin = plugin(server, refreshSucceeds: refreshSucceeds, failures: failures)
        let provider = provider(server, plugin)
        _ = try await plugin.credential
        store.isReadOnly.withLock { $0 = true }
        for _ in 0..<2 {
            let result = await provider.result(PluginTarget())
            #expect(RecordingPlugin.Outcome(result) == (refreshSucceeds ? .status(200) : .failure(.status)))
        }
        #expect(failures.elements.map { $0 is Boom } == [true])
        #expect(signOuts.count == (refreshSucceeds ? 0 : 1))
    }

    @Test("When the store cannot be read, a refused refresh does not clear it and does not sign out")
    func unreadableBeforeClearing() async throws {
        let server = TokenServer()
        let plugin = plugin(server, refreshSucceeds: false)
        let provider = provider(server, plugin)
        _ = try await plugin.credential
        store.isBroken.withLock { $0 = true }
        #expect(await provider.result(PluginTarget()).failure?.underlying is Boom)
        #expect(signOuts.count == 0)
        store.isBroken.withLock { $0 = false }
        #expect(await provider.result(PluginTarget()).failure?.underlying is OAuthError)
        #expect(signOuts.count == 1)
    }

    @Test("When another process has signed out, so does this one, and the store stays as it is")
    func signedOutElsewhere() async throws {
        let server = TokenServer()
        let plugin = plugin(server)
        let provider = provider(server, plugin)
        _ = try await plugin.credential
        try store.clear()
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.underlying as? AuthenticationError == .signedOutElsewhere)
        #expect(error.kind == .unauthorized)
        #expect(server.refreshes == [])
        #expect(signOuts.count == 1)
        try await plugin.signIn(Token(2))
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }

    @Test("A store that keeps nothing does not end the session")
    func keepsNothing() async throws {
        struct NoStore: CredentialStore {
            func load() -> Token? { nil }
            func save(_ token: Token) {}
            func clear() {}
        }
        let server = TokenServer()
        let plugin = signOuts.plugin(server.authenticator, NoStore())
        try await plugin.signIn(Token(1))
        let provider = provider(server, plugin)
        for _ in 0..<3 {
            #expect(try await provider.request(PluginTarget()).statusCode == 200)
            server.expire()
        }
        #expect(server.refreshes == [1, 2, 3])
        #expect(signOuts.count == 0)
    }

    @Test("Signing in and out throw the store's error, and take effect nevertheless")
    func signingInAndOut() async throws {
        let server = TokenServer(good: 5)
        let plugin = plugin(server)
        store.isBroken.withLock { $0 = true }
        await #expect(throws: Boom.self) { try await plugin.signIn(Token(5)) }
        let provider = provider(server, plugin)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        await #expect(throws: Boom.self) { try await plugin.signOut() }
        #expect(try await plugin.credential == nil)
        store.isBroken.withLock { $0 = false }
        try await plugin.signIn(Token(6))
        #expect(store.credential.withLock { $0 } == Token(6))
    }

    @Test("Of two changes the later one is stored, whichever arrives first")
    func order() async throws {
        let shared = SharedCredentialStore(store)
        let changes = [shared.begin((Token(9), "a")), shared.begin(nil)]
        try await shared.write(changes[1])
        try await shared.write(changes[0])
        #expect(store.credential.withLock { $0 } == nil)
        try await shared.write(shared.begin((Token(3), "b")))
        #expect(try await shared.load()?.credential == Token(3))
    }

    @Test("Signing out before the store was read clears it, and returns its credential")
    func signOutUnread() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        #expect(try await plugin.signOut() == Token(1))
        #expect(store.credential.withLock { $0 } == nil)
    }

    @Test("Several calls that begin at once read the store once")
    func readsOnceForAll() async throws {
        let store = SlowStore()
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        let reads = (0..<3).map { _ in Task { try await plugin.credential } }
        await store.gate.waitForArrivals()
        // One that is cancelled does not take the others with it.
        reads[0].cancel()
        await #expect(throws: CancellationError.self) { try await reads[0].value }
        store.gate.open()
        for read in reads.dropFirst() { #expect(try await read.value == Token(1)) }
        #expect(store.loads.value == 1)
    }

    @Test(
        "A credential that could not be stored is stored by the next call, and reported once",
        arguments: [true, false]
    )
    func unsaved(_ refreshSucceeds: Bool) async throws {
        let (server, failures) = (TokenServer(), Recorder<any Error>())
        let plugin = plugin(server, refreshSucceeds: refreshSucceeds, failures: failures)
        let provider = provider(server, plugin)
        _ = try await plugin.credential
        store.isReadOnly.withLock { $0 = true }
        for _ in 0..<2 { _ = await provider.result(PluginTarget()) }
        #expect(store.credential.withLock { $0 } == Token(1))
        store.isReadOnly.withLock { $0 = false }
        _ = await provider.result(PluginTarget())
        #expect(store.credential.withLock { $0 } == (refreshSucceeds ? Token(2) : nil))
        #expect(failures.count == 1)
    }

    @Test("A credential that could not be stored is stored once the store can also be read again")
    func unsavedInUnreadableStore() async throws {
        let (server, failures) = (TokenServer(), Recorder<any Error>())
        let plugin = plugin(server, failures: failures)
        let provider = provider(server, plugin)
        _ = try await plugin.credential
        store.isBroken.withLock { $0 = true }
        for _ in 0..<3 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        store.isBroken.withLock { $0 = false }
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(store.credential.withLock { $0 } == Token(2))
        #expect(failures.count == 1)
    }

    @Test("A credential that could not be stored does not replace a later one")
    func unsavedAndReplaced() async throws {
        let server = TokenServer(good: 7)
        let plugin = plugin(server)
        store.isBroken.withLock { $0 = true }
        await #expect(throws: Boom.self) { try await plugin.signIn(Token(6)) }
        store.isBroken.withLock { $0 = false }
        try await plugin.signIn(Token(7))
        _ = try await provider(server, plugin).request(PluginTarget())
        #expect(store.credential.withLock { $0 } == Token(7))
    }
}

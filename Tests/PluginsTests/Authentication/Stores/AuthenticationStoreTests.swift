// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
@testable import TargetKitPlugins
import TestSupport
import Testing

/// How the plugin uses its store.
@Suite("Authentication: the store", .timeLimit(.minutes(2)))
struct AuthenticationStoreTests {
    /// A store that fails on demand.
    private final class FailingStore: CredentialStore {
        let credential = TestLock<Token?>(Token(1))
        let isBroken = TestLock(false)
        let loads = Tally()

        private func check() throws {
            if isBroken.withLock({ $0 }) { throw Boom() }
        }

        func load() throws -> Token? {
            loads.add()
            try check()
            return credential.withLock { $0 }
        }

        func save(_ token: Token) throws {
            try check()
            credential.withLock { $0 = token }
        }

        func clear() throws {
            try check()
            credential.withLock { $0 = nil }
        }
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

    @Test("The store is read at the first call that needs it, and not again")
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
        store.isBroken.withLock { $0 = true }
        for _ in 0..<2 {
            let result = await provider.result(PluginTarget())
            #expect(RecordingPlugin.Outcome(result) == (refreshSucceeds ? .status(200) : .failure(.status)))
        }
        #expect(failures.elements.map { $0 is Boom } == [true])
        #expect(signOuts.count == (refreshSucceeds ? 0 : 1))
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
        let serial = SerialCredentialStore(store)
        try await serial.write(nil, change: 2)
        try await serial.write(Token(9), change: 1)
        #expect(store.credential.withLock { $0 } == nil)
        try await serial.write(Token(3), change: 3)
        #expect(try await serial.load() == Token(3))
    }

    @Test("Signing out before the store was read clears it, and returns its credential")
    func signOutUnread() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        #expect(try await plugin.signOut() == Token(1))
        #expect(store.credential.withLock { $0 } == nil)
    }

    @Test("Several calls that begin at once read the store once")
    func readsOnceForAll() async throws {
        let serial = SerialCredentialStore(store)
        for _ in 0..<3 { #expect(try await serial.load() == Token(1)) }
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
        store.isBroken.withLock { $0 = true }
        for _ in 0..<2 { _ = await provider.result(PluginTarget()) }
        #expect(store.credential.withLock { $0 } == Token(1))
        store.isBroken.withLock { $0 = false }
        _ = await provider.result(PluginTarget())
        #expect(store.credential.withLock { $0 } == (refreshSucceeds ? Token(2) : nil))
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

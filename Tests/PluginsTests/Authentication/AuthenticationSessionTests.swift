// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Authentication: cancelling, signing in and out", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationSessionTests {
    private let signOuts = SignOuts()

    /// A refresh that the test holds.
    private struct HeldRefresh {
        let server = TokenServer()
        let gate = Gate()
        let wasCancelled = Recorder<Bool>()

        var authenticator: TokenAuthenticator {
            TokenAuthenticator(renew: { [server, gate, wasCancelled] token in
                await gate.wait()
                wasCancelled.append(Task.isCancelled)
                return server.renew(token)
            })
        }

        func provider(_ plugin: any Plugin) -> Provider<PluginTarget> {
            Provider(transport: server.transport, plugins: [plugin])
        }
    }

    @Test("Who is cancelled leaves at once, and the others get the new credential", arguments: [0, 1, 3])
    func cancelling(_ index: Int) async throws {
        let held = HeldRefresh()
        let provider = held.provider(signOuts.plugin(held.authenticator))
        let first = Task { await provider.result(PluginTarget()) }
        await held.gate.waitForArrivals()
        let calls = [first] + (0..<3).map { _ in Task { await provider.result(PluginTarget()) } }
        calls[index].cancel()
        #expect(await calls[index].value.failure?.stage == .cancelled)
        held.gate.open()
        for (other, call) in calls.enumerated() where other != index {
            #expect(RecordingPlugin.Outcome(await call.value) == .status(200))
        }
        #expect(held.server.refreshes == [1])
        #expect(held.wasCancelled.elements == [false])
    }

    @Test("When all callers have gone the refresh goes on, and its credential is kept")
    func allCancelled() async throws {
        let held = HeldRefresh()
        let store = MemoryCredentialStore(Token(1))
        let stored = Expectation()
        let plugin = signOuts.plugin(held.authenticator, WatchedStore(store) { stored.fulfill() })
        let provider = held.provider(plugin)
        let calls = (0..<3).map { _ in Task { await provider.result(PluginTarget()) } }
        await held.gate.waitForArrivals()
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.value.failure?.stage == .cancelled) }
        held.gate.open()
        await stored.wait()
        #expect(held.wasCancelled.elements == [false])
        #expect(store.load() == Token(2))
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(held.server.refreshes == [1])
    }

    @Test("A provider that its owner lets go of finishes its calls, the refresh included")
    func letGo() async throws {
        let held = HeldRefresh()
        let results = Recorder<RecordingPlugin.Outcome>()
        do {
            let provider = held.provider(signOuts.plugin(held.authenticator))
            provider.request(PluginTarget(), on: .global()) { results.append(.init($0)) }
        }
        await held.gate.waitForArrivals()
        held.gate.open()
        #expect(await results.waitForCount(1) == [.status(200)])
    }

    @Test(
        "The refresh goes through the same provider, with or without the credential",
        arguments: [AuthorizationScheme.none, .bearer]
    )
    func sameProvider(_ scheme: AuthorizationScheme) async throws {
        let server = TokenServer()
        let fields = Recorder<String?>()
        let transport = StubTransport { request in
            guard request.urlRequest.url?.lastPathComponent == "token" else { return server.answer(request.urlRequest) }
            fields.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
            return .response(status: fields.count == 1 ? 200 : 401, data: Data())
        }
        let own = Locked<Provider<PluginTarget>?>(nil)
        let authenticator = TokenAuthenticator(renew: { token in
            let provider = try #require(own.withLock { $0 })
            let response = try await provider.request(PluginTarget(path: "/token", authorization: scheme))
            guard response.statusCode == 200 else { throw OAuthError.unexpectedStatus(response.statusCode) }
            return server.renew(token)
        })
        let provider = Provider<PluginTarget>(transport: transport, plugins: [signOuts.plugin(authenticator)])
        own.withLock { $0 = provider }
        defer { own.withLock { $0 = nil } }
        let results = await withTaskGroup(of: RecordingPlugin.Outcome.self) { group in
            for _ in 0..<20 { group.addTask { .init(await provider.result(PluginTarget())) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == Array(repeating: .status(200), count: 20))
        #expect(fields.elements == [scheme == .none ? nil : "Bearer token-1"])
        // A 401 to the refresh is an answer to it, not a reason for another one.
        server.expire()
        #expect(await provider.result(PluginTarget()).failure?.underlying as? OAuthError == .unexpectedStatus(401))
        #expect(fields.count == 2)
        #expect(signOuts.count == 0)
    }

    @Test("A refresh does not undo a sign-out or a sign-in that comes meanwhile", arguments: [nil, 7])
    func replaced(_ next: Int?) async throws {
        let held = HeldRefresh()
        let store = MemoryCredentialStore(Token(1))
        let plugin = signOuts.plugin(held.authenticator, store)
        let provider = held.provider(plugin)
        let call = Task { await provider.result(PluginTarget()) }
        await held.gate.waitForArrivals()
        if let next {
            try await plugin.signIn(Token(next))
        } else {
            #expect(try await plugin.signOut() == Token(1))
        }
        held.gate.open()
        #expect(await held.wasCancelled.waitForCount(1) == [true])
        let error = try #require(await call.value.failure)
        #expect(error.stage == .cancelled)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(try await plugin.credential == next.map { Token($0) })
        #expect(store.load() == next.map { Token($0) })
        #expect(!held.server.fields.elements.contains("Bearer token-2"))
        #expect(signOuts.count == 0)
    }

    @Test("A call that waits before it is sent ends as cancelled when its session does")
    func waitingIsCancelled() async throws {
        let held = HeldRefresh()
        var authenticator = held.authenticator
        authenticator.isDue = { _ in true }
        let plugin = signOuts.plugin(authenticator)
        let provider = held.provider(plugin)
        let call = Task { await provider.result(PluginTarget()) }
        await held.gate.waitForArrivals()
        try await plugin.signOut()
        let error = try #require(await call.value.failure)
        #expect(error.stage == .cancelled)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        held.gate.open()
        #expect(held.server.fields.count == 0)
    }

    @Test("A refresh that fails after the session was left signs nobody out")
    func lateFailure() async throws {
        let (server, gate, failed) = (TokenServer(good: 7), Gate(), Expectation())
        let authenticator = TokenAuthenticator(renew: { _ in
            await gate.wait()
            defer { failed.fulfill() }
            throw Boom()
        })
        let store = MemoryCredentialStore(Token(1))
        let plugin = signOuts.plugin(authenticator, store)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        let call = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        try await plugin.signIn(Token(7))
        gate.open()
        await failed.wait()
        _ = await call.value
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(store.load() == Token(7))
        #expect(signOuts.count == 0)
    }

    @Test("A call is not sent again as another user")
    func otherUser() async throws {
        let (server, gate) = (TokenServer(good: 7), Gate())
        let transport = StubTransport { request in
            let answer = server.answer(request.urlRequest)
            if server.fields.count == 1 { await gate.wait() }
            return answer
        }
        let plugin = signOuts.plugin(server.authenticator)
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        async let old = provider.result(PluginTarget()).failure?.underlying as? AuthenticationError
        await gate.waitForArrivals()
        try await plugin.signIn(Token(7))
        gate.open()
        #expect(await old == .signedOut)
        #expect(server.fields.elements == ["Bearer token-1"])
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }

    @Test("Nor by another plugin's retry: it ends as cancelled")
    func otherUserByRetry() async throws {
        let (server, clock) = (TokenServer(), ManualClock())
        let plugin = signOuts.plugin(server.authenticator)
        let again = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .seconds(5)) : .doNotRetry
        })
        let provider = Provider<PluginTarget>(
            transport: StubTransport { _ in .response(status: 503, data: Data()) },
            plugins: [plugin, again],
            clock: clock
        )
        let call = Task { await provider.result(PluginTarget()) }
        try await clock.waitForSleepers()
        try await plugin.signIn(Token(2))
        clock.advance(by: .seconds(5))
        #expect(await call.value.failure?.underlying as? AuthenticationError == .signedOut)
    }
}

/// A store that says when it has been written.
struct WatchedStore: CredentialStore {
    private let store: MemoryCredentialStore<Token>
    private let didSave: @Sendable () -> Void

    init(_ store: MemoryCredentialStore<Token>, didSave: @escaping @Sendable () -> Void) {
        self.store = store
        self.didSave = didSave
    }

    func load() -> Token? { store.load() }
    func clear() { store.clear() }

    func save(_ token: Token) {
        store.save(token)
        didSave()
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
@testable import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Authentication: calls of a session that is over", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationSignOutTests {
    private let signOuts = SignOuts()
    private let signedOut = Recorder<RequestContext>()

    private func provider(
        _ transport: any Transport,
        _ plugin: AuthenticationPlugin<TokenAuthenticator>
    ) -> Provider<PluginTarget> {
        let unauthorized = UnauthorizedPlugin(after: plugin) { [signedOut] in signedOut.append($0) }
        return Provider(transport: transport, plugins: [plugin, unauthorized])
    }

    @Test("Whoever signs out is not signed out again by the calls that waited for a refresh")
    func waiting() async throws {
        let (server, gate) = (TokenServer(), Gate())
        let plugin = signOuts.plugin(
            TokenAuthenticator(renew: { token in
                await gate.wait()
                return server.renew(token)
            })
        )
        let provider = provider(server.transport, plugin)
        let calls = (0..<3).map { _ in Task { await provider.result(PluginTarget()) } }
        await gate.waitForArrivals()
        while !Task.isCancelled, plugin.currentCredential.waiterCount < 3 { await Task.yield() }
        try await plugin.signOut()
        for call in calls {
            let error = try #require(await call.value.failure)
            #expect(error.stage == .cancelled)
            #expect(error.underlying as? AuthenticationError == .signedOut)
        }
        gate.open()
        #expect(signedOut.count == 0)
    }

    @Test("A call that waits ends as signed out, although the refresh ends by its cancellation", arguments: [nil, 7])
    func cancelledRefresh(_ next: Int?) async throws {
        let (began, ended) = (Gate(), Recorder<TargetKitError?>())
        let plugin = signOuts.plugin(
            TokenAuthenticator(renew: { _ in
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                await withTaskCancellationHandler {
                    await began.wait()
                    for await _ in stream {}
                } onCancel: {
                    // The refresh ends before the sign-out goes on.
                    continuation.finish()
                    for _ in 0..<1000 where ended.count == 0 { usleep(1000) }
                }
                throw CancellationError()
            })
        )
        began.open()
        let provider = provider(TokenServer().transport, plugin)
        let call = Task { ended.append(await provider.result(PluginTarget()).failure) }
        await began.waitForArrivals()
        if let next { try await plugin.signIn(Token(next)) } else { try await plugin.signOut() }
        await call.value
        let error = try #require(ended.elements.first.flatMap { $0 })
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(error.stage == .cancelled)
    }

    @Test("Nor by a late rejection of a call that went out before", arguments: [nil, 7])
    func late(_ next: Int?) async throws {
        let (server, gate) = (TokenServer(good: 7), Gate())
        let transport = StubTransport { request in
            let answer = server.answer(request.urlRequest)
            await gate.wait()
            return answer
        }
        let plugin = signOuts.plugin(server.authenticator)
        let provider = provider(transport, plugin)
        let call = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        if let next { try await plugin.signIn(Token(next)) } else { try await plugin.signOut() }
        gate.open()
        let error = try #require(await call.value.failure)
        #expect(error.stage == .cancelled)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(server.fields.elements == ["Bearer token-1"])
        #expect(signedOut.count == 0)
    }

    @Test("A call that went out without a credential gets what the server says")
    func guest() async throws {
        let (server, gate) = (TokenServer(good: 7), Gate())
        let transport = StubTransport { request in
            let answer = server.answer(request.urlRequest)
            await gate.wait()
            return answer
        }
        let plugin = signOuts.plugin(server.authenticator, holding: nil)
        let provider = provider(transport, plugin)
        let call = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        try await plugin.signIn(Token(7))
        gate.open()
        #expect(RecordingPlugin.Outcome(await call.value) == .status(401))
    }

    @Test("The handler is not called when another session begins while the store is cleared", arguments: [nil, 7])
    func signInDuringTheEnd(_ next: Int?) async throws {
        let server = TokenServer(good: 7)
        let holder = Locked<CurrentCredential<TokenAuthenticator>?>(nil)
        defer { holder.withLock { $0 = nil } }
        let store = SlowStore { _ = holder.withLock { $0 }?.enter(next.map { Token($0) }) }
        let plugin = signOuts.plugin(TokenAuthenticator(renew: { _ in throw Boom() }), store)
        holder.withLock { $0 = plugin.currentCredential }
        let provider = provider(server.transport, plugin)
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(signOuts.count == 0)
        #expect(signedOut.count == 0)
        #expect(try await plugin.credential == next.map { Token($0) })
    }

    @Test("A task that was begun in a refresh and outlives it makes calls as any other")
    func outlivesTheRefresh() async throws {
        let (server, gate, results) = (TokenServer(), Gate(), Recorder<RecordingPlugin.Outcome>())
        let own = Locked<Provider<PluginTarget>?>(nil)
        defer { own.withLock { $0 = nil } }
        let authenticator = TokenAuthenticator(renew: { token in
            guard token == Token(1) else { return server.renew(token) }
            Task {
                await gate.wait()
                guard let provider = own.withLock({ $0 }) else { return }
                results.append(.init(await provider.result(PluginTarget())))
            }
            return server.renew(token)
        })
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [signOuts.plugin(authenticator)])
        own.withLock { $0 = provider }
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        server.expire()
        gate.open()
        #expect(await results.waitForCount(1) == [.status(200)])
        #expect(server.refreshes == [1, 2])
    }
}

/// A store that takes so long to be cleared that something else comes between.
private struct SlowStore: CredentialStore {
    let meanwhile: @Sendable () -> Void

    func load() -> Token? { Token(1) }
    func save(_ token: Token) {}
    func clear() { meanwhile() }
}

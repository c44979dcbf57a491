// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins that surround an exchange, two and three together.
@Suite("Exchanges: plugins together", .throttled, .timeLimit(.minutes(2)))
struct ExchangeOrderTests {
    private let signOuts = SignOuts()
    private let clock = ManualClock()

    /// An authenticator whose first token has expired.
    private func expired(_ renew: @escaping @Sendable (Token) async throws -> Token = { Token($0.number + 1) })
        -> AuthenticationPlugin<TokenAuthenticator>
    {
        signOuts.plugin(TokenAuthenticator(renew: renew, isDue: { $0.number == 1 }))
    }

    @Test("The request of a redirect, and one that a plugin passes on again, have the refreshed token")
    func refreshedTwice() async throws {
        let fields = Recorder<String>()
        let transport = StubTransport { request in
            fields.append(request.urlRequest.value(forHTTPHeaderField: "Authorization") ?? "none")
            return request.urlRequest.url?.path() == "/second" || fields.count % 2 == 0
                ? .status(200) : .status(302, ["Location": "/second"])
        }
        struct Twice: Plugin {
            func exchange(
                _ request: TransportRequest,
                context: RequestContext,
                next: Exchange
            ) async throws -> TransportResponse {
                let response = try await next(request)
                return response.head.statusCode == 302 ? try await next(request) : response
            }
        }
        for plugins in [[expired()], [expired(), Twice()]] as [[any Plugin]] {
            let provider = Provider<PluginTarget>(transport: transport, plugins: plugins)
            #expect(try await provider.request(PluginTarget()).statusCode == 200)
        }
        #expect(fields.elements == Array(repeating: "Bearer token-2", count: 4))
    }

    @Test("A refresh that fails does not count as a failure of the server")
    func refreshTimesOut() async {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock)
        let failover = HostFailoverPlugin(hosts: HostSet.urls("ab"), clock: clock)
        let provider = Provider<PluginTarget>(
            transport: StubTransport(.status(200)),
            plugins: [expired { _ in throw URLError(.timedOut) }, breaker, failover]
        )
        #expect(await provider.result(PluginTarget()).failure?.kind == .timedOut)
        for url in HostSet.urls("ab") { #expect(breaker.state(of: url) == .closed) }
        #expect(failover.currentHost == HostSet.urls("a")[0])
    }

    @Test(
        "No call gets a stored response when a refresh has ended its session",
        arguments: [CachePolicy.useProtocol, .staleOnFailure]
    )
    func endedSession(policy: CachePolicy) async throws {
        let isOver = Locked(false)
        let authentication = signOuts.plugin(
            TokenAuthenticator(renew: { _ in throw Boom() }, isDue: { _ in isOver.withLock(\.self) })
        )
        let world = CacheWorld(plugins: [authentication]) { _ in .stalable("anna") }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        isOver.withLock { $0 = true }
        #expect(await world.provider.result(CachedTarget().with(policy)).failure?.kind == .unauthorized)
        #expect(signOuts.count == 1)
        #expect(world.requests.count == 1)
    }

    @Test("A call gets the stored response of its session although its token was refreshed meanwhile")
    func staleAfterRefresh() async throws {
        let isDue = Locked(false)
        let authentication = signOuts.plugin(
            TokenAuthenticator(isDue: { token in token.number == 1 && isDue.withLock(\.self) })
        )
        let world = CacheWorld(plugins: [authentication]) { _ in .cacheable("anna") }
        let target = CachedTarget().with(.staleOnFailure)
        _ = try await world.provider.request(target)
        world.pass(70)
        isDue.withLock { $0 = true }
        world.answer { _ in .error(.networkConnectionLost) }
        let response = try await world.provider.request(target)
        #expect(response.origin == .stale(age: .seconds(70)))
        #expect(
            world.requests.elements.map { $0.value(forHTTPHeaderField: "Authorization") } == [
                "Bearer token-1", "Bearer token-2",
            ]
        )
    }

    @Test("A request whose only credential is a signature neither stores nor uses a response")
    func signatures() async throws {
        let key = Locked<String?>(nil)
        let signing = RequestSigningPlugin(fields: ["X-Signature"]) { _, _ in
            key.withLock(\.self).map { ["X-Signature": $0] } ?? [:]
        }
        let world = CacheWorld(plugins: [signing])
        for user in [nil, "anna", "bob"] as [String?] {
            key.withLock { $0 = user }
            #expect(try await world.provider.request(CachedTarget()).origin == .network)
        }
        #expect(world.requests.count == 3)
    }

    @Test("The failure of a server counts although the call gets a stored response", arguments: [true, false])
    func staleIfError(isStatus: Bool) async throws {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock)
        let world = CacheWorld(plugins: [breaker]) { _ in
            .stalable("tea")
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in isStatus ? .status(503) : .error(.cannotConnectToHost) }
        let response = try await world.provider.request(CachedTarget())
        #expect(response.origin == .stale(age: .seconds(70)))
        let url = try #require(response.request?.url)
        #expect(breaker.state(of: url) == .open)
        // A stored response does not close it.
        clock.advance(by: .seconds(30))
        world.pass(-65)
        _ = try await world.provider.request(CachedTarget())
        #expect(breaker.state(of: url) == .halfOpen)
    }

    @Test("A handler for the sign-out calls the server although every slot's call waits for the token")
    func slotOfHandler() async throws {
        let limit = ConcurrencyLimitPlugin(1)
        let calls = Recorder<String>()
        let transport = StubTransport { request in
            calls.append(request.urlRequest.value(forHTTPHeaderField: "Authorization") ?? "none")
            return .status(200)
        }
        let handler = Provider<PluginTarget>(transport: transport, plugins: [limit])
        let authentication = AuthenticationPlugin(
            authenticator: TokenAuthenticator(
                renew: { _ in throw Boom() },
                isDue: { _ in true }
            ),
            store: MemoryCredentialStore(Token(1))
        ) { _ in
            _ = await Task { await handler.result(PluginTarget()) }.value
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [authentication, limit])
        #expect(await provider.result(PluginTarget()).failure != nil)
    }

    @Test("The timeout of an exchange with redirects does not include what plugins wait for")
    func redirectAfterWait() async throws {
        struct Waiting: Plugin {
            func exchange(
                _ request: TransportRequest,
                context: RequestContext,
                next: Exchange
            ) async throws -> TransportResponse {
                try await Task.sleep(for: .seconds(2))
                return try await next(request)
            }
        }
        let start = Locked<ContinuousClock.Instant?>(nil)
        let rests = Recorder<(Duration?, Duration)>()
        let transport = StubTransport { request in
            let begun = start.withLock { start in
                let begun = start ?? .now
                start = begun
                return begun
            }
            rests.append((request.timeout, begun.duration(to: .now)))
            return request.urlRequest.url?.path() == "/second" ? .status(200) : .status(302, ["Location": "/second"])
        }
        let provider = Provider<PluginTarget>(
            transport: transport,
            plugins: [Waiting()],
            options: .setting(\.timeout, .exchange(.seconds(30)))
        )
        _ = try await provider.request(PluginTarget())
        let (rest, elapsed) = try #require(rests.elements.last)
        #expect(rests.count == 2)
        #expect(try #require(rest) > .seconds(30) - elapsed - .milliseconds(1900))
    }
}

extension SampleResponse {
    /// Fresh for a minute, and may be used for ten when the server fails.
    fileprivate static func stalable(_ body: String) -> SampleResponse {
        .response(
            status: 200,
            headers: ["Cache-Control": "max-age=60, stale-if-error=600", "ETag": "\"1\""],
            data: Data(body.utf8)
        )
    }
}

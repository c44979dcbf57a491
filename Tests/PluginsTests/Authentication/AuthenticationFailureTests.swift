// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
@testable import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Authentication: refreshes that fail", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationFailureTests {
    /// A refresh that fails, and what it means.
    enum Failure: String, CaseIterable, Sendable {
        case offline, timedOut, unavailable, tooMany, unreadable, captivePortal, cancelled, page, proxy, noAnswerToWhy
        case boom, forbidden, revoked, envelope, noRefreshToken

        var endsSession: Bool {
            switch self {
            case .offline, .timedOut, .unavailable, .tooMany, .unreadable, .captivePortal, .cancelled, .page, .proxy,
                .noAnswerToWhy:
                false
            case .boom, .forbidden, .revoked, .envelope, .noRefreshToken: true
            }
        }

        var error: any Error {
            switch self {
            case .offline: URLError(.notConnectedToInternet)
            case .timedOut: TargetKitError(stage: .transport, underlying: URLError(.timedOut))
            case .unavailable: TargetKitError(stage: .status, response: Response(statusCode: 503))
            case .tooMany: OAuthError.unexpectedStatus(429)
            case .unreadable: DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
            case .captivePortal: OAuthError.unreadable("it is a page")
            case .cancelled: CancellationError()
            case .page:
                TargetKitError(stage: .status, response: Response(statusCode: 403, data: Data(" <!DOCTYPE html>".utf8)))
            case .proxy: TargetKitError(stage: .status, response: Response(statusCode: 407))
            case .boom: Boom()
            case .forbidden: TargetKitError(stage: .status, response: Response(statusCode: 403))
            case .revoked: OAuthError.refused(code: "invalid_grant", message: nil, statusCode: 400)
            case .noAnswerToWhy: OAuthError.unexpectedStatus(401)
            case .envelope: TargetKitError(stage: .envelope, response: Response(statusCode: 200))
            case .noRefreshToken: OAuthError.noRefreshToken
            }
        }

        /// Whether an error of a call says that it was this one.
        func isCause(of error: TargetKitError) -> Bool {
            let found = error.underlying ?? error
            switch self {
            case .offline: return error.kind == .offline
            case .timedOut: return error.kind == .timedOut
            case .unavailable: return error.kind == .server
            case .cancelled: return found as? AuthenticationError == .refreshCancelled && error.kind != .cancelled
            case .page: return error.kind == .forbidden
            case .proxy: return error.kind == .client
            case .forbidden, .envelope:
                return (found as? TargetKitError)?.response != nil && error.kind == .unauthorized
            default: return "\(type(of: found))\(found)" == "\(type(of: self.error))\(self.error)"
            }
        }
    }

    private let signOuts = SignOuts()

    @Test(
        "Each waiting call fails with the error, and only a permanent error signs out, once",
        arguments: Failure.allCases,
        [true, false]
    )
    func fails(_ failure: Failure, _ isEarly: Bool) async throws {
        let (server, gate, answers) = (TokenServer(), Gate(), Gate())
        let transport = StubTransport { request in
            let answer = server.answer(request.urlRequest)
            await answers.wait()
            return answer
        }
        let store = MemoryCredentialStore(Token(1))
        let authenticator = TokenAuthenticator(
            renew: { _ in
                await gate.wait()
                throw failure.error
            },
            isDue: { _ in isEarly }
        )
        // A call that comes late begins another refresh.
        let plugin = signOuts.plugin(authenticator, store, limit: RefreshLimit(100))
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        let calls = (0..<10).map { _ in Task { await provider.result(PluginTarget()) } }
        if !isEarly { await server.fields.waitForCount(10) }
        answers.open()
        await gate.waitForArrivals()
        gate.open()
        for call in calls {
            let error = try #require(await call.value.failure)
            #expect(failure.isCause(of: error), "\(error)")
            #expect((error.kind == .unauthorized) == failure.endsSession)
        }
        #expect(signOuts.count == (failure.endsSession ? 1 : 0))
        #expect(store.load() == (failure.endsSession ? nil : Token(1)))
    }

    @Test("After a transient failure the next call tries another refresh")
    func passes() async throws {
        let (server, count) = (TokenServer(), Tally())
        let authenticator = TokenAuthenticator(renew: { token in
            count.add()
            if count.value == 1 { throw URLError(.notConnectedToInternet) }
            return server.renew(token)
        })
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [signOuts.plugin(authenticator)])
        #expect(await provider.result(PluginTarget()).failure?.kind == .offline)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }

    @Test("A credential that is due but has not expired is used when the refresh fails", arguments: [true, false])
    func usable(_ isUsable: Bool) async throws {
        let server = TokenServer(good: 1)
        let authenticator = TokenAuthenticator(
            renew: { _ in throw OAuthError.unexpectedStatus(503) },
            isDue: { _ in true },
            isUsable: { _ in isUsable }
        )
        let plugin = signOuts.plugin(authenticator, limit: RefreshLimit(2))
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        // The third one is refused by the limit.
        for _ in 0..<3 {
            let result = await provider.result(PluginTarget())
            #expect(RecordingPlugin.Outcome(result) == .status(200) || !isUsable)
            #expect((result.failure == nil) == isUsable)
        }
        #expect(server.fields.count == (isUsable ? 3 : 0))
    }

    @Test("A rejected credential is not used after a refresh has failed, not even by a call that has just begun")
    func rejectedIsNotUsable() async throws {
        let (server, gate) = (TokenServer(), Gate())
        let authenticator = TokenAuthenticator(
            renew: { _ in
                await gate.wait()
                throw URLError(.cannotConnectToHost)
            },
            isUsable: { _ in true }
        )
        let plugin = signOuts.plugin(authenticator)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        async let rejected = provider.result(PluginTarget()).failure?.kind
        await gate.waitForArrivals()
        async let begun = provider.result(PluginTarget()).failure?.kind
        while !Task.isCancelled, plugin.currentCredential.waiterCount < 2 { await Task.yield() }
        gate.open()
        #expect(await rejected == .cannotConnect)
        #expect(await begun == .cannotConnect)
        #expect(server.fields.count == 1)
    }

    @Test("After the end of the session calls fail at once, with the same error, until the next sign-in")
    func ended() async throws {
        let (server, isRevoked) = (TokenServer(), Locked(true))
        let authenticator = TokenAuthenticator(renew: { token in
            if isRevoked.withLock({ $0 }) { throw Boom() }
            return server.renew(token)
        })
        let plugin = signOuts.plugin(authenticator)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        for number in 0..<3 {
            let error = try #require(await provider.result(PluginTarget()).failure)
            #expect(error.underlying is Boom)
            #expect(error.kind == .unauthorized)
            #expect(error.response?.statusCode == 401)
            let reason = "[GET https://shop.example/api/things]: the credential couldn't be refreshed: Boom"
            let sentence =
                number == 0
                ? "the status code isn't accepted (HTTP 401)"
                : "the request wasn't sent, because the session has ended; sign in again"
            #expect(error.description == "PluginTarget: \(sentence) \(reason)")
        }
        #expect(server.fields.count == 1)
        #expect(signOuts.count == 1)
        #expect(try await plugin.credential == nil)
        try await plugin.signIn(Token(5))
        #expect(await provider.result(PluginTarget()).failure?.underlying is Boom)
        #expect(signOuts.count == 2)
        isRevoked.withLock { $0 = false }
        try await plugin.signIn(Token(7))
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(signOuts.count == 2)
    }

    @Test("When the app signs out after the end of the session, calls are sent unchanged")
    func guestAfterTheEnd() async throws {
        let server = TokenServer()
        let plugin = signOuts.plugin(TokenAuthenticator(renew: { _ in throw Boom() }))
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        _ = await provider.result(PluginTarget())
        #expect(try await plugin.signOut() == nil)
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.elements == ["Bearer token-1", nil])
    }

    @Test("Calls fail after the sign-out handler has returned; calls that it makes fail at once, and it may sign in")
    func handler() async throws {
        let server = TokenServer(good: 9)
        let (reached, goOn) = (Gate(), Gate())
        let inHandler = Recorder<(any Error)?>()
        let renewer = TokenAuthenticator(renew: { _ in throw Boom() })
        let holder = Locked<AuthenticationPlugin<TokenAuthenticator>?>(nil)
        let plugin = AuthenticationPlugin(authenticator: renewer, store: MemoryCredentialStore(Token(1))) { _ in
            guard let plugin = holder.withLock({ $0 }) else { return }
            let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
            inHandler.append(await provider.result(PluginTarget()).failure?.underlying)
            reached.open()
            await goOn.wait()
            try? await plugin.signIn(Token(9))
            inHandler.append(await provider.result(PluginTarget()).failure)
        }
        holder.withLock { $0 = plugin }
        defer { holder.withLock { $0 = nil } }
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        let ended = Expectation()
        let call = Task {
            let result = await provider.result(PluginTarget())
            ended.fulfill()
            return result
        }
        await reached.wait()
        #expect(ended.fulfilledCount == 0)
        #expect(inHandler.elements.first.flatMap { $0 } is Boom)
        goOn.open()
        #expect(await call.value.failure?.underlying is Boom)
        #expect(inHandler.elements.last.map { $0 == nil } == true)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }
}

@Suite("Authentication: the limit", .throttled, .timeLimit(.minutes(2)))
struct RefreshLimitTests {
    private let signOuts = SignOuts()

    @Test("The number of refreshes is limited, by the clock", arguments: [1, 5])
    func limit(_ count: Int) async throws {
        let (server, clock) = (TokenServer(good: -1), ManualClock())
        let limit = RefreshLimit(count, within: .seconds(30))
        let plugin = signOuts.plugin(TokenAuthenticator(), limit: limit, clock: clock)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        for number in 0..<count {
            #expect(try await provider.request(PluginTarget(path: "/things/\(number)")).statusCode == 401)
            clock.advance(by: .seconds(1))
        }
        let last = "Bearer token-\(count + 1)"
        for _ in 0..<3 {
            let error = try #require(await provider.result(PluginTarget()).failure)
            #expect(error.underlying as? AuthenticationError == .tooManyRefreshes(limit))
            #expect(server.fields.elements.last == last)
        }
        clock.advance(by: .seconds(29 - count))
        #expect(await provider.result(PluginTarget()).failure != nil)
        clock.advance(by: .seconds(1))
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.elements.last == "Bearer token-\(count + 2)")
        #expect(signOuts.count == 0)
    }

    @Test("The default is five refreshes in thirty seconds, each of a minute")
    func defaultLimit() {
        #expect(RefreshLimit() == RefreshLimit(5, within: .seconds(30), timeout: .seconds(60)))
    }

    @Test("A refresh that never ends fails its callers after a time, and the next call tries another one")
    func timeout() async throws {
        let (server, clock, gate) = (TokenServer(), ManualClock(), Gate())
        let isStuck = Locked(true)
        let authenticator = TokenAuthenticator(renew: { token in
            if isStuck.withLock({ $0 }) { await gate.wait() }
            return server.renew(token)
        })
        let plugin = signOuts.plugin(authenticator, limit: RefreshLimit(1, timeout: .seconds(20)), clock: clock)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        let calls = (0..<3).map { _ in Task { await provider.result(PluginTarget()).failure } }
        await gate.waitForArrivals()
        try await clock.waitForSleepers()
        while !Task.isCancelled, plugin.currentCredential.waiterCount < 3 { await Task.yield() }
        clock.advance(by: .seconds(20))
        for call in calls {
            let error = try #require(await call.value)
            #expect(error.kind == .timedOut)
            #expect(error.underlying as? AuthenticationError == .refreshTimedOut(.seconds(20)))
        }
        #expect(signOuts.count == 0)
        isStuck.withLock { $0 = false }
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(server.refreshes == [1])
        gate.open()
    }

    @Test("The credential of a refresh that succeeds after its time is kept")
    func late() async throws {
        let (server, clock, gate) = (TokenServer(), ManualClock(), Gate())
        let store = MemoryCredentialStore(Token(1))
        let stored = Expectation()
        let authenticator = TokenAuthenticator(renew: { token in
            await gate.wait()
            return server.renew(token)
        })
        let plugin = signOuts.plugin(
            authenticator,
            WatchedStore(store) { stored.fulfill() },
            limit: RefreshLimit(timeout: .seconds(20)),
            clock: clock
        )
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        let call = Task { await provider.result(PluginTarget()).failure?.kind }
        await gate.waitForArrivals()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(20))
        #expect(await call.value == .timedOut)
        gate.open()
        await stored.wait()
        #expect(store.load() == Token(2))
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(server.refreshes == [1])
    }
}

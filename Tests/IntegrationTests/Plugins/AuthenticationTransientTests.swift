// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Authentication: transient failures", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationTransientTests {
    private let signOuts = SignOuts()
    private let clock = ManualClock()

    /// A token endpoint whose answers the test sets, asked by a provider of its own.
    private func authenticator(
        _ server: TokenServer,
        _ status: Locked<Int>,
        _ plugins: any Plugin...
    ) -> TokenAuthenticator {
        let tokens = Provider<PluginTarget>(
            transport: StubTransport { _ in .response(status: status.withLock { $0 }, data: Data()) },
            plugins: plugins
        )
        return TokenAuthenticator(renew: { token in
            let response = try await tokens.request(PluginTarget(path: "/token", authorization: .none))
            guard response.statusCode == 200 else { throw OAuthError.unexpectedStatus(response.statusCode) }
            return server.renew(token)
        })
    }

    @Test("A refresh that a circuit breaker refuses does not sign out")
    func breaker() async throws {
        let (server, status) = (TokenServer(), Locked(503))
        let store = MemoryCredentialStore(Token(1))
        let authenticator = authenticator(server, status, CircuitBreakerPlugin(clock: clock))
        let plugin = signOuts.plugin(authenticator, store, limit: RefreshLimit(100), clock: clock)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        for _ in 0..<5 {
            let error = try #require(await provider.result(PluginTarget()).failure)
            #expect(error.underlying as? OAuthError == .unexpectedStatus(503))
        }
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.underlying is CircuitOpenError)
        #expect(error.kind == .server)
        #expect(signOuts.count == 0)
        #expect(store.load() == Token(1))
        status.withLock { $0 = 200 }
        clock.advance(by: .seconds(31))
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }

    @Test("A refresh that was not sent is a transient failure", arguments: [0, 1, 2, 3, 4])
    func notSent(_ index: Int) {
        let open = CircuitOpenError(key: "shop", remaining: .seconds(3))
        let errors: [any Error] = [
            open, TargetKitError(stage: .request, underlying: open),
            TargetKitError(stage: .request, underlying: Boom()),
            TargetKitError(stage: .request, underlying: HostFailoverPlugin.Problem.unusableRequest),
            TargetKitError(stage: .request),
        ]
        #expect(TokenAuthenticator.isTransient(errors[index]))
        #expect(!TokenAuthenticator().endsSession(errors[index]))
    }

    /// What a refresh has failed with, and what it means to the person.
    enum Meaning: String, CaseIterable, Sendable {
        case unavailable, tooMany, refusedForNow, captivePortal, notDecoded, refreshCancelled

        var error: any Error {
            switch self {
            case .unavailable: OAuthError.unexpectedStatus(503)
            case .tooMany: OAuthError.unexpectedStatus(429)
            case .refusedForNow: OAuthError.refused(code: "temporarily_unavailable", message: nil, statusCode: 400)
            case .captivePortal: OAuthError.unreadable("it is a page")
            case .notDecoded: DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
            case .refreshCancelled: CancellationError()
            }
        }

        var kind: TargetKitError.Kind {
            switch self {
            case .unavailable, .refusedForNow: .server
            case .tooMany: .rateLimited
            case .captivePortal: .connectionLost
            case .notDecoded: .decoding
            case .refreshCancelled: .unknown
            }
        }
    }

    @Test("The error of a call has the kind of the refresh's failure", arguments: Meaning.allCases)
    func kind(_ meaning: Meaning) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(renew: { _ in throw meaning.error }))
        let provider = Provider<PluginTarget>(transport: TokenServer().transport, plugins: [plugin])
        #expect(await provider.result(PluginTarget()).failure?.kind == meaning.kind)
    }

    @Test(
        "The text of a call's error names the refresh that failed, whether the session ended with it or not",
        arguments: [
            (
                URLError(.timedOut) as any Error,
                "\(failed): the exchange failed \(request): the request timed out (URLError -1001)"
            ),
            (
                TargetKitError(stage: .status, response: Response(statusCode: 503)),
                "\(failed): the status code isn't accepted (HTTP 503) \(request)"
            ),
            (
                OAuthError.unexpectedStatus(429),
                "\(failed) \(request): the token endpoint returned status 429 without an error code"
            ),
            (
                OAuthError.refused(code: "invalid_grant", message: nil, statusCode: 400),
                "\(rejected): \(failed): the token endpoint rejected the request: invalid_grant"
            ),
            (
                TargetKitError(stage: .status, response: Response(statusCode: 400)),
                "\(rejected): \(failed): the status code isn't accepted (HTTP 400)"
            ),
        ]
    )
    func text(_ failure: any Error, _ text: String) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(renew: { _ in throw failure }))
        let provider = Provider<PluginTarget>(transport: TokenServer().transport, plugins: [plugin])
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.description == "PluginTarget: \(text)")
    }

    private static let failed = "the credential couldn't be refreshed"
    private static let request = "[GET https://shop.example/api/things]"
    private static let rejected = "the status code isn't accepted (HTTP 401) \(request)"

    @Test("An error of another step doesn't name the refresh")
    func otherText() async throws {
        let provider = Provider<PluginTarget>(
            transport: ScriptedTransport(.status(503)).transport,
            plugins: [signOuts.plugin(TokenAuthenticator())]
        )
        let target = PluginTarget(validation: .successCodes)
        let error = try #require(await provider.result(target).failure)
        #expect(!error.description.contains("refreshed"), "\(error)")
    }

    @Test("Exceeding the limit of refreshes is an authorization error")
    func kindOfTheLimit() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), limit: RefreshLimit(0))
        let provider = Provider<PluginTarget>(transport: TokenServer().transport, plugins: [plugin])
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.underlying as? AuthenticationError == .tooManyRefreshes(RefreshLimit(0)))
        #expect(error.kind == .unauthorized)
    }

    @Test("Refreshes without a response do not count towards the limit", arguments: [false, true])
    func offline(_ isInside: Bool) async throws {
        let (server, isOffline) = (TokenServer(), Locked(true))
        let authenticator = TokenAuthenticator(renew: { token in
            guard isOffline.withLock({ $0 }) else { return server.renew(token) }
            let error = URLError(.notConnectedToInternet)
            if isInside { throw TargetKitError(stage: .transport, underlying: error) }
            throw error
        })
        let plugin = signOuts.plugin(authenticator, limit: RefreshLimit(2), clock: clock)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        for _ in 0..<6 { #expect(await provider.result(PluginTarget()).failure?.kind == .offline) }
        isOffline.withLock { $0 = false }
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }

    @Test("At the limit the server's last failure is the cause, until a refresh has succeeded")
    func causeAtTheLimit() async throws {
        let (server, status) = (TokenServer(good: -1), Locked(503))
        let limit = RefreshLimit(2, within: .seconds(30))
        let plugin = signOuts.plugin(authenticator(server, status), limit: limit, clock: clock)
        let rejecting = ScriptedTransport(.status(401))
        let provider = Provider<PluginTarget>(transport: rejecting.transport, plugins: [plugin])
        for _ in 0..<4 { #expect(await provider.result(PluginTarget()).failure?.kind == .server) }
        status.withLock { $0 = 200 }
        #expect(await provider.result(PluginTarget()).failure?.kind == .server)
        clock.advance(by: .seconds(30))
        for path in ["/one", "/two"] as [RequestPath] {
            #expect(try await provider.request(PluginTarget(path: path)).statusCode == 401)
        }
        let error = await provider.result(PluginTarget()).failure
        #expect(error?.underlying as? AuthenticationError == .tooManyRefreshes(limit))
    }
}

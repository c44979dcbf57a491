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

/// To which server an outbox sends a call.
@Suite("An outbox: environments", .throttled, .timeLimit(.minutes(2)))
struct OutboxEnvironmentTests {
    private let environments = EnvironmentStore.testAndLive()
    private let connectivity = ManualConnectivity(.offline)
    private let clock = ManualClock()
    private let sent = Recorder<String>()
    private let users = Recorder<String?>()

    /// - Parameter failing: The first request fails when this gate is open; `nil`: it doesn't fail.
    private func outbox(
        storedIn file: URL? = nil,
        plugins: [any Plugin] = [],
        failing: Gate? = nil,
        endpointClosure: @escaping @Sendable (MovingTarget) throws -> Endpoint = { try Endpoint(target: $0) }
    ) throws -> OfflineOutbox<MovingTarget> {
        let transport = StubTransport { [sent, users] request in
            sent.append(request.urlRequest.url?.absoluteString ?? "")
            users.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
            if let failing, sent.count == 1 {
                await failing.wait()
                throw URLError(.networkConnectionLost)
            }
            return .response(status: 200, data: Data())
        }
        return try OfflineOutbox(
            Provider(endpointClosure: endpointClosure, transport: transport, plugins: plugins),
            storedIn: file,
            reachability: Reachability(connectivity),
            clock: clock
        )
    }

    private func goOnline() { connectivity.set(.online(.wifi, isExpensive: false)) }

    private func finish(_ outbox: OfflineOutbox<MovingTarget>) async throws {
        while !outbox.entries.isEmpty {
            try Task.checkCancellation()
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
    }

    /// Selects an environment, in which the account's user signs in.
    private func enter(
        _ environment: String,
        signingIn token: Token,
        _ plugin: AuthenticationPlugin<TokenAuthenticator>,
        _ outbox: OfflineOutbox<MovingTarget>,
        account: String?,
        isAccountFirst: Bool = false
    ) async throws {
        if !isAccountFirst { try environments.select(environment) }
        outbox.account = "none"
        outbox.account = account
        if isAccountFirst { try environments.select(environment) }
        try await plugin.signIn(token)
    }

    @Test("A kept call goes to the environment for which it was made, also after a relaunch", arguments: [false, true])
    func kept(isRelaunched: Bool) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("moving.outbox")
        var outbox = try outbox(storedIn: file)
        try await outbox.keep(MovingTarget(of: environments, isPost: true))
        try environments.select("live")
        if isRelaunched { outbox = try self.outbox(storedIn: file) }
        _ = try await outbox.send(MovingTarget(of: environments, isPost: true))
        goOnline()
        try await finish(outbox)
        #expect(sent.elements == ["https://test.example/v1/orders", "https://live.example/v2/orders"])
    }

    @Test("A kept call goes to the server that the endpoint closure chose for it")
    func closure() async throws {
        let outbox = try outbox { [environments] target in
            var endpoint = try Endpoint(target: target)
            endpoint.url = URL(string: "https://\(environments.current.name).closure.example/x/orders") ?? endpoint.url
            return endpoint
        }
        try await outbox.keep(MovingTarget(of: environments))
        try environments.select("live")
        goOnline()
        try await finish(outbox)
        #expect(sent.elements == ["https://test.closure.example/x/orders"])
    }

    @Test("A call that is kept without a valid environment goes to the one that the app selects")
    func invalid() async throws {
        let broken = EnvironmentStore(
            default: ServerEnvironment("none", baseURL: "not a url"),
            others: environments.environments,
            storage: MemoryEnvironmentStorage(),
            launch: .ignored
        )
        let outbox = try outbox()
        try await outbox.keep(MovingTarget(of: broken))
        try broken.select("live")
        goOnline()
        try await finish(outbox)
        #expect(sent.elements == ["https://live.example/v2/orders"])
    }

    @Test(
        "A kept call isn't sent to its server with a token of another environment's session",
        arguments: ["ann", nil],
        [true, false]
    )
    func otherSession(account: String?, wasSignedIn: Bool) async throws {
        let plugin = SignOuts().plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugins: [plugin])
        outbox.account = account
        if wasSignedIn { try await plugin.signIn(Token(1)) }
        try await outbox.keep(MovingTarget(of: environments, isPost: true))
        try await enter("live", signingIn: Token(50), plugin, outbox, account: account)
        goOnline()
        try await outbox.passDelays(of: clock)
        #expect(sent.elements == [])
        try await enter("test", signingIn: Token(2), plugin, outbox, account: account)
        // Without an account, only the same session is the same user.
        guard account != nil || !wasSignedIn else { return }
        try await finish(outbox)
        #expect(users.elements == ["Bearer token-2"])
    }

    @Test(
        "A kept call isn't sent with another environment's session after its own environment is selected again",
        arguments: [("ann", true), ("ann", false), (nil, false)],
        [(true, true), (true, false), (false, true), (false, false)]
    )
    func selectedAgain(
        user: (account: String?, wasSignedIn: Bool),
        way: (isOnline: Bool, isAccountFirst: Bool)
    ) async throws {
        let plugin = SignOuts().plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugins: [plugin])
        outbox.account = user.account
        if user.wasSignedIn { try await plugin.signIn(Token(1)) }
        try await outbox.keep(MovingTarget(of: environments, isPost: true))
        try await enter(
            "live",
            signingIn: Token(50),
            plugin,
            outbox,
            account: user.account,
            isAccountFirst: way.isAccountFirst
        )
        if way.isOnline {
            goOnline()
            try await outbox.passDelays(of: clock)
        }
        try environments.select("test")
        goOnline()
        try await outbox.passDelays(of: clock)
        #expect(sent.elements == [])
        try await enter(
            "test",
            signingIn: Token(2),
            plugin,
            outbox,
            account: user.account,
            isAccountFirst: way.isAccountFirst
        )
        try await finish(outbox)
        #expect(users.elements == ["Bearer token-2"])
    }

    @Test("A kept call isn't sent with the same user's session in another environment", arguments: [false, true])
    func sameUser(isRelaunched: Bool) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("moving.outbox")
        let store = MemoryCredentialStore<Token>()
        var plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: true), store)
        try await plugin.signIn(Token(1))
        var outbox = try outbox(storedIn: file, plugins: [plugin])
        try await outbox.keep(MovingTarget(of: environments, isPost: true))
        try environments.select("live")
        try await plugin.signIn(Token(50))
        if isRelaunched {
            plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: true), store)
            outbox = try self.outbox(storedIn: file, plugins: [plugin])
        }
        goOnline()
        try await outbox.passDelays(of: clock)
        #expect(sent.elements == [])
        try environments.select("test")
        try await outbox.passDelays(of: clock)
        #expect(sent.elements == [])
        try await plugin.signIn(Token(2))
        try await finish(outbox)
        #expect(users.elements == ["Bearer token-2"])
    }

    @Test(
        "A kept call is sent in its own session while another environment is selected, also after a relaunch",
        arguments: [false, true],
        [false, true]
    )
    func ownSession(namesUsers: Bool, isRelaunched: Bool) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("moving.outbox")
        let store = MemoryCredentialStore<Token>()
        var plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: namesUsers), store)
        try await plugin.signIn(Token(1))
        var outbox = try outbox(storedIn: file, plugins: [plugin])
        try await outbox.keep(MovingTarget(of: environments, isPost: true))
        try environments.select("live")
        if isRelaunched {
            plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: namesUsers), store)
            outbox = try self.outbox(storedIn: file, plugins: [plugin])
        }
        goOnline()
        try await finish(outbox)
        #expect(sent.elements == ["https://test.example/v1/orders"])
        #expect(users.elements == ["Bearer token-1"])
    }

    @Test("A call that fails after a sign-in in another environment isn't sent again with that session")
    func signInDuringCall() async throws {
        let plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: true), holding: nil)
        try await plugin.signIn(Token(1))
        let failing = Gate()
        let outbox = try outbox(plugins: [plugin], failing: failing)
        goOnline()
        async let result = outbox.send(MovingTarget(of: environments, isPost: true))
        await failing.waitForArrivals()
        try environments.select("live")
        try await plugin.signIn(Token(50))
        failing.open()
        _ = try await result
        try environments.select("test")
        try await outbox.passDelays(of: clock)
        #expect(users.elements == ["Bearer token-1"])
        try await plugin.signIn(Token(2))
        try await finish(outbox)
        #expect(users.elements == ["Bearer token-1", "Bearer token-2"])
    }
}

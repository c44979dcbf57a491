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

    private func outbox(
        storedIn file: URL? = nil,
        plugins: [any Plugin] = [],
        endpointClosure: @escaping @Sendable (MovingTarget) throws -> Endpoint = { try Endpoint(target: $0) }
    ) throws -> OfflineOutbox<MovingTarget> {
        let transport = StubTransport { [sent, users] request in
            sent.append(request.urlRequest.url?.absoluteString ?? "")
            users.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
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
        try environments.select("live")
        outbox.account = "none"
        outbox.account = account
        try await plugin.signIn(Token(50))
        goOnline()
        try await outbox.passDelays(of: clock)
        #expect(sent.elements == [])
        try environments.select("test")
        outbox.account = "none"
        outbox.account = account
        try await plugin.signIn(Token(2))
        // Without an account, only the same session is the same user.
        guard account != nil || !wasSignedIn else { return }
        try await finish(outbox)
        #expect(users.elements == ["Bearer token-2"])
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A shared exchange continues when the call that began it is cancelled.
@Suite("Authentication of a shared call", .throttled, .timeLimit(.minutes(3)))
struct AuthenticationSharingTests {
    private let signOuts = SignOuts()

    /// Lets two calls share an exchange, and cancels the one that began it.
    private func followed(
        _ provider: Provider<PluginTarget>,
        _ reached: Gate
    ) async -> Task<Result<Response, TargetKitError>, Never> {
        let first = Task { await provider.result(PluginTarget()) }
        await reached.waitForArrivals()
        let second = Task { await provider.result(PluginTarget()) }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 2 { await Task.yield() }
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        return second
    }

    /// A provider whose calls share an exchange that fails with 503 when the gate opens, and is retried once after a
    /// delay.
    private func failing(
        _ plugin: any Plugin,
        again delay: Duration,
        _ gate: Gate,
        _ clock: ManualClock,
        _ fields: Recorder<String?>,
        timeout: CallTimeout = .none
    ) -> Provider<PluginTarget> {
        let again = RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: delay) : .doNotRetry })
        return Provider(
            transport: StubTransport { request in
                fields.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
                await gate.wait()
                return .response(status: 503, data: Data())
            },
            plugins: [plugin, again],
            options: .setting(\.sharesInFlight, true).setting(\.timeout, timeout),
            clock: clock
        )
    }

    @Test("When the first call has been cancelled, the exchange is not retried as the next user", arguments: [nil, 7])
    func nextUser(_ next: Int?) async throws {
        let (fields, clock, gate) = (Recorder<String?>(), ManualClock(), Gate())
        let plugin = signOuts.plugin(TokenAuthenticator())
        let provider = failing(plugin, again: .seconds(5), gate, clock, fields)
        let second = await followed(provider, gate)
        gate.open()
        try await clock.waitForSleepers()
        if let next { try await plugin.signIn(Token(next)) } else { try await plugin.signOut() }
        clock.advance(by: .seconds(5))
        let error = try #require(await second.value.failure)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(fields.elements == ["Bearer token-1"])
    }

    @Test("An exchange is not retried later than the call that began it can wait")
    func outOfTime() async throws {
        let (fields, clock, gate) = (Recorder<String?>(), ManualClock(), Gate())
        let plugin = signOuts.plugin(TokenAuthenticator())
        let timeout = CallTimeout.wholeCall(.seconds(10))
        let provider = failing(plugin, again: .seconds(8), gate, clock, fields, timeout: timeout)
        let first = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(4))
        let second = Task { await provider.result(PluginTarget()) }
        try await clock.waitForSleepers(2)
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 2 { await Task.yield() }
        gate.open()
        for call in [first, second] { #expect(RecordingPlugin.Outcome(await call.value) == .status(503)) }
        #expect(fields.elements == ["Bearer token-1"])
    }

    @Test("An exchange that is rejected with the new credential is not retried again")
    func givenUp() async throws {
        let (server, gate) = (TokenServer(good: -1), Gate())
        let plugin = signOuts.plugin(TokenAuthenticator())
        let provider = Provider<PluginTarget>(
            transport: StubTransport { request in
                let answer = server.answer(request.urlRequest)
                await gate.wait()
                return answer
            },
            plugins: [plugin],
            options: .setting(\.sharesInFlight, true)
        )
        let second = await followed(provider, gate)
        gate.open()
        #expect(RecordingPlugin.Outcome(await second.value) == .status(401))
        #expect(server.fields.elements == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("A rejection of a shared exchange signs out once", arguments: [true, false])
    func unauthorized(_ firstLeaves: Bool) async throws {
        let (held, signedOut) = (HeldTransport(.status(401)), Recorder<RequestContext>())
        let plugin = UnauthorizedPlugin { signedOut.append($0) }
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [plugin, AccessTokenPlugin { _ in "token" }],
            options: .setting(\.sharesInFlight, true)
        )
        let first = Task { await provider.result(PluginTarget()) }
        await held.gate.waitForArrivals()
        let others = (0..<3).map { _ in Task { await provider.result(PluginTarget()) } }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 4 { await Task.yield() }
        if firstLeaves { first.cancel() }
        held.gate.open()
        for other in others {
            // The first one cancels those that have not ended.
            #expect([.status(401), .failure(.cancelled)].contains(RecordingPlugin.Outcome(await other.value)))
        }
        _ = await first.value
        #expect(signedOut.count == 1)
        #expect(provider.configuration.sharedExchanges.count == 0)
    }

    @Test("Calls that share an exchange and cannot decode its response do not repeat a rejected one for ever")
    func undecoded() async throws {
        let (held, code) = (HeldTransport(.response(status: 200, data: Data(#"{"status":401}"#.utf8))), 401)
        let plugin = AuthenticationPlugin(
            authenticator: OAuthAuthenticator(bodyCodes: [BodyCode(keyPath: "status", equals: code)]) { _ in
                OAuthCredential(accessToken: "new")
            },
            store: MemoryCredentialStore(OAuthCredential(accessToken: "old"))
        ) { _ in
        }
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [plugin],
            options: .setting(\.sharesInFlight, true)
        )
        let calls = (0..<3).map { _ in
            Task {
                await Result { () async throws(TargetKitError) in
                    try await provider.request(PluginTarget(), as: [String: String].self)
                }
            }
        }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 3 { await Task.yield() }
        held.gate.open()
        for call in calls { #expect(await call.value.failure?.stage == .decoding) }
        let fields = held.requests.elements.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(fields.prefix(2) == ["Bearer old", "Bearer new"])
        #expect(fields.dropFirst(2).allSatisfy { $0 == "Bearer new" })
        #expect(fields.count <= 5)
    }
}

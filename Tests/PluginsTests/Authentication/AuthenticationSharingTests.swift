// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
@testable import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A network call that several calls share goes on when the one that began it is cancelled.
@Suite("Authentication of a shared call", .timeLimit(.minutes(1)))
struct AuthenticationSharingTests {
    private let signOuts = SignOuts()

    /// Lets two calls share, and the one that began leave.
    private func followed(
        _ provider: Provider<PluginTarget>,
        _ reached: Gate
    ) async -> Task<Result<Response, TargetKitError>, Never> {
        let first = Task { await provider.result(PluginTarget()) }
        await reached.waitForArrivals()
        let second = Task { await provider.result(PluginTarget()) }
        while provider.pipeline.sharedCalls.waiterCount < 2 { await Task.yield() }
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        return second
    }

    /// A provider whose calls share, and fail with 503 when the gate opens; they are tried again once, after a while.
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
            sharing: .identical,
            timeout: timeout,
            clock: clock
        )
    }

    @Test("When the one that began has left, it is not tried again as the next user", arguments: [nil, 7])
    func nextUser(_ next: Int?) async throws {
        let (fields, clock, gate) = (Recorder<String?>(), ManualClock(), Gate())
        let plugin = signOuts.plugin(TokenAuthenticator())
        let provider = failing(plugin, again: .seconds(5), gate, clock, fields)
        let second = await followed(provider, gate)
        gate.open()
        await clock.waitForSleepers()
        if let next { try await plugin.signIn(Token(next)) } else { try await plugin.signOut() }
        clock.advance(by: .seconds(5))
        let error = try #require(await second.value.failure)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(fields.elements == ["Bearer token-1"])
    }

    @Test("Nor when it has run out of time")
    func outOfTime() async throws {
        let (fields, clock, gate) = (Recorder<String?>(), ManualClock(), Gate())
        let plugin = signOuts.plugin(TokenAuthenticator())
        let timeout = CallTimeout.wholeCall(.seconds(10))
        let provider = failing(plugin, again: .seconds(8), gate, clock, fields, timeout: timeout)
        let first = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(4))
        let second = Task { await provider.result(PluginTarget()) }
        await clock.waitForSleepers(2)
        while provider.pipeline.sharedCalls.waiterCount < 2 { await Task.yield() }
        gate.open()
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(6))
        #expect(await first.value.failure?.kind == .timedOut)
        try await plugin.signIn(Token(7))
        clock.advance(by: .seconds(2))
        #expect(await second.value.failure?.underlying as? AuthenticationError == .signedOut)
        #expect(fields.elements == ["Bearer token-1"])
    }

    @Test("It is given up after a refresh that has not helped")
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
            sharing: .identical
        )
        let second = await followed(provider, gate)
        gate.open()
        #expect(RecordingPlugin.Outcome(await second.value) == .status(401))
        #expect(server.fields.elements == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("Nothing is noted any more of a call that has left, when its exchange is tried again")
    func unauthorized() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let plugin = UnauthorizedPlugin { _ in }
        let provider = failing(plugin, again: .seconds(5), gate, clock, Recorder())
        let second = await followed(provider, gate)
        gate.open()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(RecordingPlugin.Outcome(await second.value) == .status(503))
        #expect(plugin.noteCount == 0)
    }

    @Test("Of calls that have left the latest are known; others are not taken for the next session's")
    func forgotten() throws {
        var calls = AuthenticatedCalls()
        var contexts = (0..<65).map { _ in RequestContext(target: PluginTarget(), attempt: 0) }
        for context in contexts {
            _ = calls.call(context, in: (session: 1, generation: 1))
            calls.end(context.id, with: .failure(TargetKitError(stage: .cancelled)))
        }
        for index in contexts.indices { contexts[index].attempt = 1 }
        let known = calls.call(contexts[64], in: (session: 2, generation: 2))
        #expect(known?.session == 1)
        let same = calls.call(contexts[0], in: (session: 1, generation: 1))
        #expect(same?.session == 1)
        let older = calls.call(contexts[0], in: (session: 2, generation: 2))
        #expect(older == nil)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A network call that several calls share goes on when the one that began it is cancelled.
@Suite("Retry and breaker of a shared call", .timeLimit(.minutes(1)))
struct SharedResilienceTests {
    private let clock = ManualClock()
    private let held = Gate()
    private let target = SturdyTarget(baseURL: HostSet.urls("a")[0])

    /// Answers the first request with 503 when the gate opens, and each other one with 200.
    private func script() -> ScriptedTransport {
        ScriptedTransport { [held] _, index in
            if index == 0 { try await held.waitUnlessCancelled() }
            return .status(index == 0 ? 503 : 200)
        }
    }

    /// Lets two calls share, and the one that began leave; returns what the other one gets.
    private func outcome(
        _ provider: Provider<SturdyTarget>,
        _ script: ScriptedTransport
    ) async -> RecordingPlugin.Outcome {
        let target = target
        let first = Task { await provider.result(target) }
        await script.requests.waitForCount(1)
        let second = Task { await provider.result(target) }
        // Nothing tells from outside that a call has joined.
        while provider.pipeline.sharedCalls.waiterCount < 2 { await Task.yield() }
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        let held = held
        return .init(
            await clock.stepping {
                held.open()
                return await second.value
            }.value
        )
    }

    private func provider(_ script: ScriptedTransport, _ plugins: any Plugin...) -> Provider<SturdyTarget> {
        Provider(transport: script.transport, plugins: plugins, sharing: .identical, clock: clock)
    }

    @Test("It is tried again for those that still wait")
    func retried() async {
        let script = script()
        #expect(await outcome(provider(script, RetryPlugin(clock: clock)), script) == .status(200))
        #expect(script.requests.count == 2)
    }

    @Test("The call that has left is not in flight again, when the network call is tried again")
    func activity() async {
        let script = script()
        let active = Recorder<Bool>()
        let loading = Recorder<Bool>()
        let plugins: [any Plugin] = [
            RetryPlugin(clock: clock), NetworkActivityPlugin { active.append($0) },
            LoadingPlugin { loading.append($0) },
        ]
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: plugins,
            sharing: .identical,
            clock: clock
        )
        #expect(await outcome(provider, script) == .status(200))
        #expect(active.elements == [true, false])
        #expect(loading.elements.last == false)
    }

    @Test("It is not tried again where nothing says that it may arrive twice")
    func post() async {
        let script = script()
        let changed = Provider<SturdyTarget>(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                endpoint.method = .post
                return endpoint
            },
            transport: script.transport,
            plugins: [RetryPlugin(clock: clock)],
            sharing: .identical,
            clock: clock
        )
        #expect(await outcome(changed, script) == .status(503))
        #expect(script.requests.count == 1)
    }

    @Test("It keeps no place in a half-open circuit, and what it brings does not count")
    func breaker() async {
        var policy = CircuitBreakerPolicy(failures: 1, share: 0)
        policy.probes = 2
        let breaker = CircuitBreakerPlugin(policy: policy, clock: clock)
        let failing = Provider<SturdyTarget>(transport: StubTransport(.status(503)), plugins: [breaker])
        _ = await failing.result(target)
        clock.advance(by: .seconds(30))
        let script = script()
        #expect(await outcome(provider(script, breaker), script) == .status(503))
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
        let working = Provider<SturdyTarget>(transport: StubTransport(.status(200)), plugins: [breaker])
        for _ in 0..<2 { #expect(RecordingPlugin.Outcome(await working.result(target)) == .status(200)) }
        #expect(breaker.state(of: target.baseURL) == .closed)
    }
}

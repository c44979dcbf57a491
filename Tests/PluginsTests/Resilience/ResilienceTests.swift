// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins for bad days in one array.
@Suite("Retry, failover and breaker together", .timeLimit(.minutes(1)))
struct ResilienceTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let breaker: CircuitBreakerPlugin
    private let failover: HostFailoverPlugin
    private let provider: Provider<SturdyTarget>

    init() {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 4), clock: clock)
        var policy = HostFailoverPolicy()
        policy.isAvailable = { breaker.admits($0) }
        failover = HostFailoverPlugin(hosts: HostSet.urls("ab"), policy: policy, clock: clock)
        self.breaker = breaker
        let plugins: [any Plugin] = [failover, breaker, RetryPlugin(clock: clock)]
        provider = Provider(transport: hosts.script.transport, plugins: plugins, clock: clock)
    }

    private func call(
        _ target: SturdyTarget = SturdyTarget()
    ) async -> (outcome: RecordingPlugin.Outcome, waits: Int) {
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        return (.init(result), sleeps.count)
    }

    @Test("The next host is tried before there is a wait")
    func hostFirst() async {
        hosts.set(.status(503), "a")
        #expect(await call() == (.status(200), 0))
        #expect(hosts.visits == "ab")
    }

    @Test("When all hosts have failed there is a wait, and the next attempt starts from the host that is used")
    func thenWaits() async {
        hosts.set(.status(503), "a", "b")
        #expect(await call() == (.status(503), 2))
        // Both at once, then one after each wait.
        #expect(hosts.visits == "abab")
    }

    @Test("The breaker counts the host that was chosen")
    func breakerFollows() async {
        hosts.set(.status(500), "a")
        _ = await call()
        _ = await call()
        #expect(breaker.state(of: "https://a.example") == .open)
        #expect(breaker.state(of: "https://b.example") == .closed)
        #expect(breaker.state(of: "https://shop.example") == .closed)
    }

    @Test("A host whose circuit is open is passed over, though its failures are not the failover's")
    func passesOver() async {
        hosts.set(.status(500), "a")
        _ = await call()
        #expect(hosts.visits == "aaa")
        // The circuit opens with this call's first attempt, and its second one goes to the other host.
        #expect(await call() == (.status(200), 1))
        #expect(hosts.visits == "aaaab")
        #expect(failover.currentHost?.host() == "b.example")
        hosts.set(nil, "a")
        clock.advance(by: .seconds(60))
        #expect(await call() == (.status(200), 0))
        #expect(hosts.visits == "aaaaba")
        #expect(breaker.state(of: "https://a.example") == .closed)
        #expect(failover.currentHost?.host() == "a.example")
    }

    @Test("With all circuits open nothing is sent, and nothing repeated")
    func allOpen() async {
        hosts.set(.status(500), "a", "b")
        while breaker.state(of: "https://a.example") == .closed || breaker.state(of: "https://b.example") == .closed {
            _ = await call()
        }
        let count = hosts.visits.count
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(result.failure?.underlying is CircuitOpenError)
        #expect(sleeps.isEmpty)
        #expect(hosts.visits.count == count)
    }

    @Test("A POST is sent once to a server that answers, and moved from one that refuses")
    func post() async {
        hosts.set(.status(503), "a")
        let post = SturdyTarget(method: .post)
        #expect(await call(post) == (.status(503), 0))
        hosts.set(.error(.cannotConnectToHost), "b")
        hosts.set(nil, "a")
        #expect(await call(post) == (.status(200), 0))
        #expect(hosts.visits == "aba")
    }

    @Test("A POST with a key is moved and repeated, with that key at each host")
    func postWithKey() async {
        hosts.set(.status(503), "a", "b")
        let target = SturdyTarget(method: .post) { "key-1" }
        #expect(await call(target) == (.status(503), 2))
        #expect(hosts.visits == "abab")
        let keys = hosts.script.requests.elements.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }
        #expect(keys == Array(repeating: "key-1", count: 4))
    }

    @Test("A call that waits when the circuit opens ends with that")
    func opensWhileWaiting() async {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 2), clock: clock)
        let plugins: [any Plugin] = [breaker, RetryPlugin(clock: clock)]
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: plugins, clock: clock)
        hosts.set(.status(503), "shop")
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(result.failure?.underlying is CircuitOpenError)
        #expect(sleeps.count == 2)
        #expect(hosts.visits == "ss")
    }
}

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

// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
@testable import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins for resilience in one array.
@Suite("Retry, failover and breaker together", .throttled, .timeLimit(.minutes(3)))
struct ResilienceTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let breaker: CircuitBreakerPlugin
    private let failover: HostFailoverPlugin
    private let provider: Provider<SturdyTarget>

    init() {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 4), clock: clock)
        failover = HostFailoverPlugin(hosts: HostSet.urls("ab"), clock: clock)
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

    @Test("The next host is tried without a delay")
    func hostFirst() async {
        hosts.set(.status(503), "a")
        #expect(await call() == (.status(200), 0))
        #expect(hosts.visits == "ab")
    }

    @Test("When all hosts have failed there is a delay, and the next attempt uses the current host")
    func thenWaits() async {
        hosts.set(.status(503), "a", "b")
        #expect(await call() == (.status(503), 2))
        // Both at once, then one after each delay.
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

    @Test("A host with an open circuit is skipped, even if its failures do not count for the failover")
    func passesOver() async {
        hosts.set(.status(500), "a")
        _ = await call()
        #expect(hosts.visits == "aaa")
        // The circuit opens after this call's first attempt, and its second one uses the other host.
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
        for _ in 0..<100
        where breaker.state(of: "https://a.example") == .closed || breaker.state(of: "https://b.example") == .closed {
            _ = await call()
        }
        let count = hosts.visits.count
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(result.failure?.underlying is CircuitOpenError)
        #expect(sleeps.isEmpty)
        #expect(hosts.visits.count == count)
    }

    @Test("A POST is sent once to a server that answers, and moved after a refused connection")
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

    @Test("A call ends if the circuit opens during its delay")
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

    @Test("The order of the array does not matter")
    func anyOrder() async {
        var stories: Set<String> = []
        for order in permutations(of: [0, 1, 2, 3, 4]) { stories.insert(await story(in: order)) }
        // Both hosts without a delay, each again after one; then both circuits are open.
        #expect(stories == ["abab, 2 delays, failure(.envelope); abab, 0 delays, failure(.envelope)"])
    }

    private func permutations(of numbers: [Int]) -> [[Int]] {
        if numbers.isEmpty { return [[]] }
        return numbers.flatMap { first in permutations(of: numbers.filter { $0 != first }).map { [first] + $0 } }
    }

    /// What happens to two calls of a provider with five plugins in that order, the first of which begins offline.
    private func story(in order: [Int]) async -> String {
        let (clock, waits, hosts) = (ManualClock(), ManualClock(), HostSet())
        let connectivity = ManualConnectivity(.offline)
        let plugins: [any Plugin] = [
            HostFailoverPlugin(hosts: HostSet.urls("ab"), clock: clock),
            CircuitBreakerPlugin(policy: .init(failures: 2), clock: clock),
            RetryPlugin(clock: clock),
            WaitsForConnectivityPlugin(Reachability(source: connectivity), clock: waits),
            ErrorHandlingPlugin { _, _ in .fail(TargetKitError(stage: .envelope)) },
        ]
        let provider = Provider<SturdyTarget>(
            transport: hosts.script.transport,
            plugins: order.map { plugins[$0] },
            clock: clock
        )
        hosts.set(.status(503), "a", "b")
        let target = SturdyTarget(validation: .successCodes)
        var parts: [String] = []
        for isFirst in [true, false] {
            async let call = clock.stepping { await provider.result(target) }
            if isFirst {
                try? await waits.waitForSleepers(within: .seconds(600))
                connectivity.set(.online(.wifi, isExpensive: false))
            }
            let (result, sleeps) = await call
            let stage = result.failure.map { "failure(.\($0.stage))" } ?? "success"
            parts.append("\(hosts.visits), \(sleeps.count) delays, \(stage)")
        }
        return parts.joined(separator: "; ")
    }
}

/// An exchange that calls share continues when the call that began it is cancelled.
@Suite("Retry and breaker of a shared exchange", .throttled, .timeLimit(.minutes(3)))
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

    /// Lets two calls share an exchange, and cancels the one that began it; returns the outcome of the other.
    private func outcome(
        _ provider: Provider<SturdyTarget>,
        _ script: ScriptedTransport
    ) async -> RecordingPlugin.Outcome {
        let target = target
        let first = Task { await provider.result(target) }
        await script.requests.waitForCount(1)
        let second = Task { await provider.result(target) }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 2 { await Task.yield() }
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
        Provider(transport: script.transport, plugins: plugins, options: .setting(\.sharesInFlight, true), clock: clock)
    }

    @Test("It is repeated for the calls that still wait")
    func retried() async {
        let script = script()
        #expect(await outcome(provider(script, RetryPlugin(clock: clock)), script) == .status(200))
        #expect(script.requests.count == 2)
    }

    @Test("A cancelled call is not in flight again when the exchange is repeated")
    func activity() async {
        let script = script()
        let active = Recorder<NetworkActivityPlugin.Change>()
        let loading = Recorder<Bool>()
        let plugins: [any Plugin] = [
            RetryPlugin(clock: clock), NetworkActivityPlugin { change, _ in active.append(change) },
            LoadingPlugin { loading.append($0) },
        ]
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: plugins,
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        #expect(await outcome(provider, script) == .status(200))
        await MainQueue.settle()
        #expect(active.elements == [.began, .ended])
        #expect(loading.elements.last == false)
    }

    @Test("It is not repeated if that is not safe")
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
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        #expect(await outcome(changed, script) == .status(503))
        #expect(script.requests.count == 1)
    }

    @Test("It keeps the permit of the call that began it, and counts when it ends", arguments: [200, 503])
    func breaker(_ status: Int) async {
        var policy = CircuitBreakerPolicy(failures: 1, share: 0)
        policy.probes = 2
        let breaker = CircuitBreakerPlugin(policy: policy, clock: clock)
        let failing = Provider<SturdyTarget>(transport: StubTransport(.status(503)), plugins: [breaker])
        _ = await failing.result(target)
        clock.advance(by: .seconds(30))
        let script = ScriptedTransport { [held] _, _ in
            try await held.waitUnlessCancelled()
            return .status(status)
        }
        #expect(await outcome(provider(script, breaker), script) == .status(status))
        #expect(breaker.state(of: target.baseURL) == (status == 200 ? .halfOpen : .open))
        guard status == 200 else { return }
        let working = Provider<SturdyTarget>(transport: StubTransport(.status(200)), plugins: [breaker])
        #expect(RecordingPlugin.Outcome(await working.result(target)) == .status(200))
        #expect(breaker.state(of: target.baseURL) == .closed)
    }

    @Test("It gives back the permit of an attempt that is not sent")
    func unsentAttempt() async {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock)
        let clock = clock
        let broken = RecordingPlugin(
            prepare: { request, context in
                if context.attempt == 1 { throw Boom() }
                return request
            },
            retry: { _, _ in
                clock.advance(by: .seconds(30))
                return .retry(after: .zero)
            }
        )
        let script = ScriptedTransport(.status(503))
        #expect(RecordingPlugin.Outcome(await provider(script, breaker, broken).result(target)) == .failure(.request))
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
        #expect(
            RecordingPlugin.Outcome(await provider(ScriptedTransport(.status(200)), breaker).result(target))
                == .status(200)
        )
    }

    @Test("A call whose envelope explains a status is not repeated again by its own plugins")
    func explainedStatus() async {
        let body = Data(#"{"code": 7, "message": "busy"}"#.utf8)
        let script = ScriptedTransport(.response(status: 503, data: body))
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [RetryPlugin(clock: clock), HostFailoverPlugin(hosts: HostSet.urls("ab"), clock: clock)],
            options: .setting(\.sharesInFlight, true).setting(\.envelope, CodeMessageData()),
            clock: clock
        )
        let target = target.with { $0.validation = .successCodes }
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        #expect(result.failure?.stage == .envelope)
        #expect(sleeps.count == 2)
        #expect(script.hosts.map { $0.prefix(1) }.joined() == "abab")
    }
}

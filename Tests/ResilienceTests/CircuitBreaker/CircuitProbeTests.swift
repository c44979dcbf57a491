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

/// The permits of a half-open circuit, the circuit that a call belongs to, and calls that end late.
@Suite("Circuit breaker: permits and keys", .throttled, .timeLimit(.minutes(3)))
struct CircuitProbeTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let breaker: CircuitBreakerPlugin
    private let target = SturdyTarget(baseURL: HostSet.urls("a")[0])

    /// Opens a circuit, and lets its time pass.
    init() async {
        breaker = CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock)
        hosts.set(.status(503), "a")
        _ = await Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [breaker]).result(target)
        clock.advance(by: .seconds(30))
        hosts.set(nil, "a")
    }

    private func provider(_ plugins: any Plugin...) -> Provider<SturdyTarget> {
        Provider(transport: hosts.script.transport, plugins: [breaker] + plugins, clock: clock)
    }

    @Test("A probe that says nothing about the server gives its permit back", arguments: CallEnding.allCases)
    func freed(_ ending: CallEnding) async {
        let breaker = CircuitBreakerPlugin(
            policy: .init(failures: 1, share: 0),
            clock: clock,
            key: { _, _ in "all" }
        )
        let failing = Provider<SturdyTarget>(transport: StubTransport(.status(503)), plugins: [breaker])
        _ = await failing.result(target)
        clock.advance(by: .seconds(30))
        #expect(breaker.state(of: "all") == .halfOpen)
        _ = await ending.run(through: breaker)
        switch ending {
        case .status, .transportFailure: #expect(breaker.state(of: "all") == .open)
        case .success, .retried, .retriedThenPrepareFailure, .retryFails, .cancelledWaitingToRetry:
            #expect(breaker.state(of: "all") == .closed)
        case .endpointFailure, .earlierPrepareFailure, .laterPrepareFailure, .cancelledInPrepare, .cancelledInFlight:
            #expect(breaker.state(of: "all") == .halfOpen)
            let working = Provider<SturdyTarget>(transport: StubTransport(.status(200)), plugins: [breaker])
            #expect(RecordingPlugin.Outcome(await working.result(target)) == .status(200))
            #expect(breaker.state(of: "all") == .closed)
        }
    }

    @Test("A call from before the last change does not count when it ends", arguments: [200, 503])
    func late(_ status: Int) async {
        let gate = Gate()
        let script = ScriptedTransport { request, index in
            if index == 0 { try await gate.waitUnlessCancelled() }
            return .status(index == 0 ? status : 503)
        }
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock)
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [breaker])
        let late = Task { await provider.result(target) }
        await script.requests.waitForCount(1)
        _ = await provider.result(target)
        #expect(breaker.state(of: target.baseURL) == .open)
        clock.advance(by: .seconds(29))
        gate.open()
        #expect(RecordingPlugin.Outcome(await late.value) == .status(status))
        #expect(breaker.state(of: target.baseURL) == .open)
        // It does not prolong the time either.
        clock.advance(by: .seconds(1))
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
    }

    @Test("Each server has its own circuit: scheme, host and port")
    func servers() async throws {
        hosts.set(.status(503), "a")
        _ = await provider().result(target)
        #expect(breaker.state(of: "https://a.example") == .open)
        for (text, state) in [
            ("https://A.EXAMPLE:443/x?y", CircuitState.open), ("http://a.example", .closed),
            ("https://a.example:8443", .closed), ("https://b.example", .closed), ("mailto:a@b", .closed),
        ] {
            let url = try #require(URL(string: text))
            #expect(breaker.state(of: url) == state)
        }
        #expect(
            RecordingPlugin.Outcome(await provider().result(SturdyTarget(baseURL: HostSet.urls("b")[0])))
                == .status(200)
        )
    }

    @Test("The key can be any string; a call without one is sent and does not count")
    func keys() async {
        let breaker = CircuitBreakerPlugin(
            policy: .init(failures: 1, share: 0),
            clock: clock,
            key: { request, target in target.method == .delete ? nil : request.url?.lastPathComponent }
        )
        hosts.set(.status(503), "a")
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [breaker])
        for _ in 0..<3 { _ = await provider.result(target.with { $0.method = .delete }) }
        #expect(breaker.state(of: "things") == .closed)
        _ = await provider.result(target)
        #expect(breaker.state(of: "things") == .open)
        #expect(await provider.result(target).failure?.underlying as? CircuitOpenError != nil)
        #expect(RecordingPlugin.Outcome(await provider.result(target.with { $0.path = "/others" })) == .status(503))
        #expect(breaker.state(of: "others") == .open)
    }

    @Test(
        "A server that redirects to one that fails has answered; the failure counts for the other one",
        arguments: [true, false]
    )
    func redirect(_ isStatus: Bool) async throws {
        let other = try #require(URL(string: "https://other.example/x"))
        hosts.set(.status(302, ["Location": other.absoluteString]), "a")
        let error = URLError(.cannotConnectToHost, userInfo: [NSURLErrorFailingURLErrorKey: other])
        hosts.set(isStatus ? .status(503) : .failure(error), "other")
        _ = await provider().result(target)
        #expect(breaker.state(of: target.baseURL) == .closed)
        #expect(breaker.state(of: other) == .open)
    }

    @Test("Two breakers of one provider count independently")
    func two() async {
        let byPath = CircuitBreakerPlugin(
            policy: .init(failures: 2, share: 0),
            clock: clock,
            key: { request, _ in request.url?.lastPathComponent }
        )
        hosts.set(.status(503), "a")
        _ = await provider(byPath).result(target)
        #expect(breaker.state(of: target.baseURL) == .open)
        #expect(byPath.state(of: "things") == .closed)
        clock.advance(by: .seconds(30))
        _ = await provider(byPath).result(target)
        #expect(breaker.state(of: target.baseURL) == .open)
        #expect(byPath.state(of: "things") == .closed)
        _ = await Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [byPath]).result(target)
        #expect(byPath.state(of: "things") == .open)
    }

    @Test("A server that fails is remembered among hundreds of others")
    func many() async throws {
        let policy = CircuitBreakerPolicy(failures: 1, share: 0, window: .seconds(1))
        let breaker = CircuitBreakerPlugin(policy: policy, clock: clock)
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [breaker])
        hosts.set(.status(503), "a")
        _ = await provider.result(target)
        // The other circuits are idle after a second, and are forgotten.
        for index in 0..<300 {
            let url = try #require(URL(string: "https://s\(index).example"))
            _ = await provider.result(SturdyTarget(baseURL: url))
            clock.advance(by: .milliseconds(50))
        }
        #expect(breaker.state(of: target.baseURL) == .open)
    }

    @Test("A half-open circuit whose probe was cancelled is forgotten")
    func forgottenProbe() async throws {
        let changes = Recorder<String>()
        let policy = CircuitBreakerPolicy(failures: 1, share: 0, window: .seconds(1), openFor: .seconds(10))
        let breaker = CircuitBreakerPlugin(policy: policy, clock: clock, onChange: { changes.append("\($0) \($1)") })
        let script = ScriptedTransport { request, index in
            if index == 0 { return .status(503) }
            if request.url?.host() == "a.example" { throw CancellationError() }
            return .status(200)
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [breaker])
        _ = await provider.result(target)
        clock.advance(by: .seconds(10))
        #expect(RecordingPlugin.Outcome(await provider.result(target)) == .failure(.cancelled))
        for (time, state) in [(10, CircuitState.halfOpen), (1, .closed)] {
            clock.advance(by: .seconds(time))
            try await callOtherHosts("s\(time)-", with: provider)
            #expect(breaker.state(of: target.baseURL) == state)
        }
        #expect(changes.elements == ["open", "halfOpen", "closed"].map { "https://a.example \($0)" })
    }

    @Test("The sequence of states and the state agree when the time of an open circuit is over")
    func observedTime() async throws {
        var later = breaker.states(of: "https://a.example").makeAsyncIterator()
        #expect(await later.next() == .halfOpen)
        hosts.set(.status(503), "a")
        _ = await provider().result(target)
        #expect(await later.next() == .open)
        #expect(breaker.state(of: target.baseURL) == .open)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        #expect(await later.next() == .halfOpen)
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
    }

    @Test("A circuit whose probe is in flight is not forgotten")
    func longProbe() async throws {
        let gate = Gate()
        let script = ScriptedTransport { request, _ in
            if request.url?.host() == "a.example" { try await gate.waitUnlessCancelled() }
            return .status(200)
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [breaker])
        async let probe = provider.result(target)
        await script.requests.waitForCount(1)
        clock.advance(by: .seconds(3600))
        try await callOtherHosts("s", with: provider)
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
        gate.open()
        #expect(RecordingPlugin.Outcome(await probe) == .status(200))
        #expect(breaker.state(of: target.baseURL) == .closed)
    }

    @Test("A probe that takes long refuses other calls for ten seconds only")
    func slowProbe() async throws {
        let gate = Gate()
        let script = ScriptedTransport { _, index in
            if index == 0 { try await gate.waitUnlessCancelled() }
            return .status(200)
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [breaker])
        async let probe = provider.result(target)
        await script.requests.waitForCount(1)
        clock.advance(by: .milliseconds(9_999))
        #expect(await provider.result(target).failure?.underlying is CircuitOpenError)
        clock.advance(by: .milliseconds(1))
        #expect(RecordingPlugin.Outcome(await provider.result(target)) == .status(200))
        #expect(breaker.state(of: target.baseURL) == .closed)
        gate.open()
        #expect(RecordingPlugin.Outcome(await probe) == .status(200))
        #expect(breaker.state(of: target.baseURL) == .closed)
    }

    @Test("A probe whose body fails after its head opens the circuit again", arguments: [1, 2])
    func streamedProbe(_ probes: Int) async throws {
        let policy = CircuitBreakerPolicy(failures: 1, share: 0, probes: probes)
        let breaker = CircuitBreakerPlugin(policy: policy, clock: clock)
        let failing = Provider<SturdyTarget>(transport: StubTransport(.status(503)), plugins: [breaker])
        _ = await failing.result(target)
        clock.advance(by: .seconds(30))
        var transport = StreamingTransport()
        transport.failure = URLError(.networkConnectionLost)
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [breaker])
        let stream = try await provider.stream(target)
        #expect(breaker.state(of: target.baseURL) == (probes == 1 ? .closed : .halfOpen))
        transport.gate.open()
        await #expect(throws: TargetKitError.self) { for try await _ in stream {} }
        #expect(breaker.state(of: target.baseURL) == .open)
    }

    @Test("An idle open circuit is forgotten, and reported as closed")
    func forgotten() async throws {
        let changes = Recorder<String>()
        let policy = CircuitBreakerPolicy(failures: 1, share: 0, window: .seconds(1), openFor: .seconds(10))
        let breaker = CircuitBreakerPlugin(policy: policy, clock: clock, onChange: { changes.append("\($0) \($1)") })
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [breaker])
        hosts.set(.status(503), "a")
        _ = await provider.result(target)
        // Until then it may be half-open, and is remembered.
        for (time, state) in [(10, CircuitState.halfOpen), (1, .closed)] {
            clock.advance(by: .seconds(time))
            try await callOtherHosts("s\(time)-", with: provider)
            #expect(breaker.state(of: target.baseURL) == state)
        }
        let key = "https://a.example"
        #expect(
            changes.elements == [
                "\(key) open", "\(key) closed",
            ]
        )
    }

    /// Calls more hosts than there are circuits.
    private func callOtherHosts(_ prefix: String, with provider: Provider<SturdyTarget>) async throws {
        for index in 0..<70 {
            let url = try #require(URL(string: "https://\(prefix)\(index).example"))
            _ = await provider.result(SturdyTarget(baseURL: url))
        }
    }
}

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

@Suite("Circuit breaker", .throttled, .timeLimit(.minutes(3)))
struct CircuitBreakerPluginTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let changes = Recorder<String>()

    private func breaker(_ policy: CircuitBreakerPolicy = .init(failures: 3)) -> CircuitBreakerPlugin {
        CircuitBreakerPlugin(
            policy: policy,
            clock: clock,
            onChange: { [changes] in changes.append("\($0) \($1)") }
        )
    }

    private func provider(_ plugins: any Plugin...) -> Provider<SturdyTarget> {
        Provider(transport: hosts.script.transport, plugins: plugins, clock: clock)
    }

    private func target(_ name: String = "a", _ change: (inout SturdyTarget) -> Void = { _ in }) -> SturdyTarget {
        var target = SturdyTarget(baseURL: HostSet.urls(name)[0])
        change(&target)
        return target
    }

    /// Makes calls one after the other, `.` for each that succeeds, `x` for each that fails.
    private func call(_ pattern: String, _ breaker: CircuitBreakerPlugin) async {
        let provider = provider(breaker)
        for character in pattern {
            hosts.set(character == "x" ? .status(503) : nil, "a")
            _ = await provider.result(target())
        }
    }

    @Test(
        "It opens when a number and a share of the calls have failed",
        arguments: [
            (3, 0.5, "xx", CircuitState.closed), (3, 0.5, "xxx", .open), (3, 0.5, "x.x.x", .open),
            (3, 0.5, "....xxx", .closed), (3, 0.5, "....xxxx", .open), (3, 0.5, "xx..", .closed),
            (3, 0, ".........xxx", .open), (3, 0, ".........xx", .closed), (2, 1, "x.xxx", .closed),
            (2, 1, "xx", .open), (1, 0, "..x", .open), (0, 0, "...", .closed), (-1, 0, "x", .open),
            (3, 0.6, "xx..x", .open), (3, 0.7, "xx..x", .closed),
        ]
    )
    func opens(_ failures: Int, _ share: Double, _ pattern: String, _ expected: CircuitState) async {
        let breaker = breaker(CircuitBreakerPolicy(failures: failures, share: share))
        await call(pattern, breaker)
        #expect(breaker.state(of: "https://a.example") == expected)
        #expect(breaker.state(of: HostSet.urls("a")[0]) == expected)
        #expect(changes.elements == (expected == .open ? ["https://a.example open"] : []))
        #expect(hosts.visits.count == pattern.count)
    }

    @Test("Failures before the window do not count")
    func window() async {
        let breaker = breaker(CircuitBreakerPolicy(failures: 3, window: .seconds(30)))
        await call("xx", breaker)
        clock.advance(by: .seconds(30))
        await call("xx", breaker)
        #expect(breaker.state(of: "https://a.example") == .closed)
        clock.advance(by: .seconds(26))
        await call("x", breaker)
        #expect(breaker.state(of: "https://a.example") == .open)
    }

    @Test(
        "What counts as a failure",
        arguments: [
            (SampleResponse.status(500), true), (.status(502), true), (.status(503), true), (.status(504), true),
            (.status(200), false), (.status(404), false), (.status(429), false), (.status(501), false),
            (.error(.timedOut), true), (.error(.cannotConnectToHost), true), (.error(.cannotFindHost), true),
            (.error(.networkConnectionLost), true), (.error(.secureConnectionFailed), true),
            (.error(.notConnectedToInternet), false), (.error(.cancelled), false),
            (.error(.dataLengthExceedsMaximum), false), (.failure(Boom()), false),
        ],
        [StatusValidation.none, .successCodes]
    )
    func failures(_ ending: (answer: SampleResponse, isFailure: Bool), _ validation: StatusValidation) async {
        let breaker = breaker(CircuitBreakerPolicy(failures: 1, share: 0))
        hosts.set(ending.answer, "a")
        _ = await provider(breaker).result(target { $0.validation = validation })
        #expect(breaker.state(of: "https://a.example") == (ending.isFailure ? .open : .closed))
    }

    @Test("Statuses and codes can be chosen")
    func chosen() async {
        var policy = CircuitBreakerPolicy(failures: 1, share: 0)
        policy.statuses = [429]
        policy.errorCodes = [.badServerResponse]
        for (answer, state) in [
            (SampleResponse.status(429), CircuitState.open), (.status(503), .closed),
            (.error(.badServerResponse), .open), (.error(.timedOut), .closed),
        ] {
            let breaker = breaker(policy)
            hosts.set(answer, "a")
            _ = await provider(breaker).result(target())
            #expect(breaker.state(of: "https://a.example") == state)
        }
    }

    @Test("A call that was cancelled, or failed for a reason of its own, does not count")
    func neutral() async {
        let breaker = breaker(CircuitBreakerPolicy(failures: 2, share: 1))
        let provider = provider(breaker)
        for answer in [
            SampleResponse.status(503), .error(.cancelled), .error(.dataLengthExceedsMaximum), .status(503),
        ] {
            hosts.set(answer, "a")
            _ = await provider.result(target())
        }
        #expect(breaker.state(of: "https://a.example") == .open)
    }

    @Test(
        "A stream whose body fails is a failure of the server",
        arguments: [
            (.networkConnectionLost, .open), (.timedOut, .open), (.cannotDecodeContentData, .closed), (nil, .closed),
        ] as [(URLError.Code?, CircuitState)]
    )
    func streams(_ code: URLError.Code?, _ state: CircuitState) async throws {
        let breaker = breaker(CircuitBreakerPolicy(failures: 2, share: 1))
        var transport = StreamingTransport()
        transport.failure = code.map { URLError($0) }
        transport.gate.open()
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [breaker])
        for _ in 0..<2 {
            #expect(breaker.state(of: "https://a.example") == .closed)
            let stream = try await provider.stream(target())
            do {
                for try await _ in stream {}
                #expect(code == nil)
            } catch {
                #expect(code != nil)
            }
        }
        #expect(breaker.state(of: "https://a.example") == state)
    }

    @Test("While it is open nothing is sent, and the error names the server and the remaining time")
    func open() async throws {
        let breaker = breaker()
        await call("xxx", breaker)
        clock.advance(by: .seconds(12.5))
        let error = try #require(await provider(breaker).result(target()).failure)
        #expect(hosts.visits == "aaa")
        let open = try #require(error.underlying as? CircuitOpenError)
        #expect(open == CircuitOpenError(key: "https://a.example", remaining: .seconds(17.5)))
        #expect(error.stage == .request)
        #expect(error.kind == .server)
        #expect(error.text(in: .english) == "The service is temporarily unavailable.")
        #expect(error.text(.failureReason, in: .english) == "The server isn't responding.")
        #expect("\(error)".contains("https://a.example are rejected"))
        #expect("\(error)".contains("in 18 s"))
        #expect(open.localizedDescription == "\(open)")
    }

    @Test("It is half-open after its time; a probe that succeeds closes it, and the count starts again")
    func closes() async {
        let breaker = breaker()
        await call("xxx", breaker)
        clock.advance(by: .milliseconds(29_999))
        #expect(breaker.state(of: "https://a.example") == .open)
        clock.advance(by: .milliseconds(1))
        #expect(breaker.state(of: "https://a.example") == .halfOpen)
        await call(".xx", breaker)
        #expect(breaker.state(of: "https://a.example") == .closed)
        await call("x", breaker)
        #expect(breaker.state(of: "https://a.example") == .open)
        let key = "https://a.example"
        #expect(
            changes.elements == [
                "\(key) open", "\(key) halfOpen", "\(key) closed", "\(key) open",
            ]
        )
    }

    @Test("An isolated circuit refuses all calls until it is reset")
    func isolated() async throws {
        let breaker = breaker()
        breaker.isolate("https://a.example")
        clock.advance(by: .seconds(3600))
        let error = try #require(await provider(breaker).result(target()).failure)
        let open = try #require(error.underlying as? CircuitOpenError)
        #expect(open == CircuitOpenError(key: "https://a.example", remaining: .zero, isIsolated: true))
        #expect("\(error)".contains("the app isolated the circuit"))
        #expect(hosts.visits == "")
        breaker.reset("https://a.example")
        await call("xx.", breaker)
        #expect(breaker.state(of: "https://a.example") == .closed)
        #expect(hosts.visits == "aaa")
        #expect(changes.elements == ["https://a.example isolated", "https://a.example closed"])
    }

    @Test("A reset closes an open circuit, and calls from before it no longer count")
    func reset() async {
        let gate = Gate()
        let script = ScriptedTransport { _, index in
            if index == 0 { try await gate.waitUnlessCancelled() }
            return .status(503)
        }
        let breaker = breaker(CircuitBreakerPolicy(failures: 1, share: 0))
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [breaker])
        let early = Task { await provider.result(target()) }
        await script.requests.waitForCount(1)
        _ = await provider.result(target())
        #expect(breaker.state(of: "https://a.example") == .open)
        breaker.reset("https://a.example")
        breaker.reset("https://unknown.example")
        #expect(breaker.state(of: "https://a.example") == .closed)
        gate.open()
        _ = await early.value
        #expect(breaker.state(of: "https://a.example") == .closed)
        _ = await provider.result(target())
        #expect(breaker.state(of: "https://a.example") == .open)
    }

    @Test(
        "A call that takes longer than the policy allows is a failure",
        arguments: [(999, false), (1000, false), (1001, true)]
    )
    func slowCalls(_ milliseconds: Int, _ isFailure: Bool) async {
        let breaker = breaker(CircuitBreakerPolicy(failures: 1, share: 0, slowCallThreshold: .seconds(1)))
        let script = ScriptedTransport { [clock] _, _ in
            clock.advance(by: .milliseconds(milliseconds))
            return .status(200)
        }
        // A wait before the call is sent does not count.
        let waiting = RecordingPlugin(prepare: { [clock] request, _ in
            clock.advance(by: .seconds(5))
            return request
        })
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [breaker, waiting])
        #expect(RecordingPlugin.Outcome(await provider.result(target())) == .status(200))
        #expect(breaker.state(of: "https://a.example") == (isFailure ? .open : .closed))
    }

    @Test("The states of a circuit are a sequence, which ends with the plugin")
    func states() async {
        var breaker: CircuitBreakerPlugin? = self.breaker(CircuitBreakerPolicy(failures: 1, share: 0))
        let key = "https://a.example"
        var states = breaker?.states(of: key).makeAsyncIterator()
        #expect(await states?.next() == .closed)
        if let breaker { await call("x", breaker) }
        #expect(await states?.next() == .open)
        breaker?.isolate("https://b.example")
        clock.advance(by: .seconds(30))
        breaker?.isolate(key)
        #expect(await states?.next() == .isolated)
        breaker?.reset(key)
        #expect(await states?.next() == .closed)
        breaker = nil
        #expect(await states?.next() == nil)
    }

    @Test("A probe that fails opens it again for the same time")
    func reopens() async {
        let breaker = breaker()
        await call("xxx", breaker)
        for _ in 0..<3 {
            clock.advance(by: .seconds(30))
            await call("xxx", breaker)
            #expect(breaker.state(of: "https://a.example") == .open)
        }
        #expect(hosts.visits.count == 6)
    }

    @Test(
        "When half-open it sends a number of calls at a time, and closes when that number has succeeded",
        arguments: [1, 2, 5]
    )
    func probes(_ count: Int) async {
        var policy = CircuitBreakerPolicy(failures: 1, share: 0)
        policy.probes = count
        let breaker = breaker(policy)
        await call("x", breaker)
        clock.advance(by: .seconds(30))
        let held = HeldTransport()
        let provider = Provider<SturdyTarget>(transport: held.transport, plugins: [breaker])
        let target = target()
        let probes = (0..<count).map { _ in Task { await provider.result(target) } }
        await held.requests.waitForCount(count)
        let refused = await provider.result(target).failure?.underlying as? CircuitOpenError
        #expect(refused?.remaining == .zero)
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
        held.gate.open()
        for probe in probes { #expect(RecordingPlugin.Outcome(await probe.value) == .status(200)) }
        #expect(breaker.state(of: target.baseURL) == .closed)
    }

    @Test("It stays half-open until enough probes have succeeded")
    func probesOneByOne() async {
        var policy = CircuitBreakerPolicy(failures: 1, share: 0)
        policy.probes = 3
        let breaker = breaker(policy)
        await call("x", breaker)
        clock.advance(by: .seconds(30))
        await call("..", breaker)
        #expect(breaker.state(of: "https://a.example") == .halfOpen)
        await call(".", breaker)
        #expect(breaker.state(of: "https://a.example") == .closed)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

/// The return to the first host.
@Suite("Host failover: the first host again", .throttled, .timeLimit(.minutes(3)))
struct HostProbeTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let plugin: HostFailoverPlugin

    init() async {
        plugin = HostFailoverPlugin(hosts: HostSet.urls("abc"), clock: clock)
        hosts.set(.status(503), "a")
        _ = await Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [plugin]).result(SturdyTarget())
    }

    private func call(_ target: SturdyTarget = SturdyTarget(), _ after: any Plugin...) async -> RecordingPlugin.Outcome
    {
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [plugin] + after)
        return .init(await provider.result(target))
    }

    /// The hosts of the calls since the first host was left.
    private var visits: String { String(hosts.visits.dropFirst(2)) }

    @Test("It is tried again after a minute, and used when it works")
    func works() async {
        hosts.set(nil, "a")
        clock.advance(by: .seconds(59))
        #expect(await call() == .status(200))
        #expect(visits == "b")
        clock.advance(by: .seconds(1))
        #expect(await call() == .status(200))
        #expect(await call() == .status(200))
        #expect(visits == "baa")
        #expect(plugin.currentHost?.host() == "a.example")
    }

    @Test("While it fails, one call a minute tries it, and is sent to the next host")
    func stillFails() async {
        for round in 1...3 {
            clock.advance(by: .seconds(60))
            for _ in 0..<3 { #expect(await call() == .status(200)) }
            #expect(visits == String(repeating: "abbb", count: round))
        }
        #expect(plugin.currentHost?.host() == "b.example")
    }

    @Test("It works if it answers with any other status", arguments: [200, 404, 500])
    func answers(_ status: Int) async {
        hosts.set(.status(status), "a")
        clock.advance(by: .seconds(60))
        #expect(await call() == .status(status))
        #expect(plugin.currentHost?.host() == "a.example")
    }

    @Test("A call that is not safe to repeat does not try it; one with a key does")
    func unsafeCalls() async {
        clock.advance(by: .seconds(60))
        #expect(await call(SturdyTarget(method: .post)) == .status(200))
        #expect(visits == "b")
        #expect(await call(SturdyTarget(method: .post, headers: ["Idempotency-Key": "k"])) == .status(200))
        #expect(visits == "bab")
    }

    @Test("One call at a time tries it; if that is cancelled, the next one does")
    func oneAtATime() async {
        let gate = Gate()
        let script = ScriptedTransport { request, _ in
            if request.url?.host() == "a.example" { try await gate.waitUnlessCancelled() }
            return .status(200)
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin])
        clock.advance(by: .seconds(60))
        let probe = Task { await provider.result(SturdyTarget()) }
        await script.requests.waitForCount(1)
        for _ in 0..<3 { _ = await provider.result(SturdyTarget()) }
        #expect(script.hosts == ["a.example", "b.example", "b.example", "b.example"])
        probe.cancel()
        #expect(await probe.value.failure?.stage == .cancelled)
        gate.open()
        _ = await provider.result(SturdyTarget())
        #expect(script.hosts.last == "a.example")
        #expect(plugin.currentHost?.host() == "a.example")
    }

    @Test("After a call that fails before it is sent, another one tries it a minute later")
    func neverSent() async {
        clock.advance(by: .seconds(60))
        let broken = RecordingPlugin(prepare: { _, _ in throw Boom() })
        #expect(await call(SturdyTarget(), broken) == .failure(.request))
        hosts.set(nil, "a")
        #expect(await call() == .status(200))
        #expect(visits == "b")
        clock.advance(by: .seconds(60))
        #expect(await call() == .status(200))
        #expect(visits == "ba")
    }

    @Test("After a call that is cancelled before it is sent, the next one tries it")
    func cancelledBeforeSending() async {
        clock.advance(by: .seconds(60))
        let reached = Gate()
        let waiting = RecordingPlugin(prepare: { request, _ in
            try await reached.waitUnlessCancelled()
            return request
        })
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [plugin, waiting])
        let call = Task { await provider.result(SturdyTarget()) }
        await reached.waitForArrivals()
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        hosts.set(nil, "a")
        #expect(await self.call() == .status(200))
        #expect(visits == "a")
    }

    @Test("After a failure of the device, the next call tries it")
    func neutral() async {
        clock.advance(by: .seconds(60))
        hosts.set(.error(.notConnectedToInternet), "a")
        #expect(await call() == .failure(.transport))
        hosts.set(nil, "a")
        #expect(await call() == .status(200))
        #expect(visits == "aa")
    }

    @Test("A shared exchange that ends before it tries it lets the next call try it")
    func sharedExchange() async {
        let script = ScriptedTransport(.status(500))
        let clock = clock
        let broken = RecordingPlugin(
            prepare: { request, context in
                if context.attempt == 1 { throw Boom() }
                return request
            },
            retry: { _, _ in
                clock.advance(by: .seconds(60))
                return .retry(after: .zero)
            }
        )
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [plugin, broken],
            options: .setting(\.sharesInFlight, true)
        )
        // The second attempt is to try the first host, and is not sent.
        #expect(RecordingPlugin.Outcome(await provider.result(SturdyTarget())) == .failure(.request))
        #expect(script.hosts == ["b.example"])
        #expect(await call() == .status(200))
        #expect(visits == "ab")
    }

    @Test("It is not tried while it is not available")
    func notAvailable() async {
        let isOpen = Locked(true)
        var policy = HostFailoverPolicy()
        policy.isAvailable = { host in host.host() != "a.example" || !isOpen.withLock { $0 } }
        let plugin = HostFailoverPlugin(hosts: HostSet.urls("ab"), policy: policy, clock: clock)
        let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [plugin])
        hosts.set(nil, "a")
        _ = await provider.result(SturdyTarget())
        clock.advance(by: .seconds(60))
        _ = await provider.result(SturdyTarget())
        isOpen.withLock { $0 = false }
        _ = await provider.result(SturdyTarget())
        #expect(visits == "bba")
    }
}

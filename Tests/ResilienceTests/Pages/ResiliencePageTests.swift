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

private enum Shop: TargetType {
    case orders

    var baseURL: URL { HostSet.urls("a")[0] }
    var path: RequestPath { "/shop" }
}

/// The snippets of the catalog of TargetKitResilience.
@Suite("Page: resilience", .throttled, .timeLimit(.minutes(3)))
struct ResiliencePageTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let main = HostSet.urls("a")[0]
    private let reserve = HostSet.urls("b")[0]

    private var transport: StubTransport { hosts.script.transport }

    @Test("A provider with two plugins")
    func landing() {
        let provider = Provider<Shop>(plugins: [HostFailoverPlugin(hosts: [main, reserve]), CircuitBreakerPlugin()])
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("All three in one array")
    func together() async throws {
        let breaker = CircuitBreakerPlugin()
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [
                HostFailoverPlugin(hosts: [main, reserve], clock: clock),
                breaker,
                RetryPlugin(),
            ],
            clock: clock
        )
        hosts.set(.status(503), "a")
        #expect(try await provider.request(.orders).statusCode == 200)
        #expect(hosts.visits == "ab")
    }

    @Test("Send slow requests twice")
    func hedge() async throws {
        let retry = RetryPlugin(clock: clock)
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [retry, HedgingPlugin(after: .milliseconds(300), budgetOf: retry, clock: clock)]
        )
        _ = try await provider.request(.orders)
        #expect(hosts.visits == "a")
    }

    @Test("Limit calls")
    func limits() async throws {
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [ConcurrencyLimitPlugin(4), RateLimitPlugin(10, per: .seconds(1), clock: clock)],
            clock: clock
        )
        for _ in 0..<10 { _ = try await provider.request(.orders) }
        #expect(hosts.visits.count == 10)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Isolate a circuit")
    func isolate() async {
        let changes = Recorder<String>()
        let breaker = CircuitBreakerPlugin(clock: clock)
        breaker.isolate("https://a.example")
        let isRefused = breaker.state(of: "https://a.example") == .isolated
        breaker.reset("https://a.example")
        for await state in breaker.states(of: "https://a.example") {
            changes.append("\(state)")
            break
        }
        #expect(isRefused)
        #expect(changes.elements == ["closed"])
    }

    @Test("Use several hosts")
    func failover() async throws {
        let moves = Recorder<URL>()
        hosts.set(.status(503), "a")
        let failover = HostFailoverPlugin(hosts: [main, reserve], clock: clock) { host in
            moves.append(host)
        }
        let provider = Provider<Shop>(transport: transport, plugins: [failover])
        let orders = try await provider.request(.orders)
        #expect(failover.currentHost == reserve)
        #expect(orders.statusCode == 200)
        #expect(moves.elements == [reserve])
    }

    @Test("Refuse calls")
    func breaker() async throws {
        let changes = Recorder<String>()
        hosts.set(.status(503), "a")
        let breaker = CircuitBreakerPlugin(policy: CircuitBreakerPolicy(failures: 2), clock: clock) { server, state in
            changes.append("\(server) is \(state)")
        }
        let provider = Provider<Shop>(transport: transport, plugins: [breaker])
        for _ in 0..<2 { _ = try? await provider.request(.orders) }
        #expect(breaker.state(of: main) == .open)
        do {
            _ = try await provider.request(.orders)
        } catch {
            let open = error.underlying as? CircuitOpenError
            #expect(open?.remaining == .seconds(30))
            #expect(error.kind == .server)
        }
        #expect(hosts.visits == "aa")
        #expect(changes.elements == ["https://a.example is open"])
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private enum Shop: TargetType {
    case orders
    case pay(draft: String)
    case search

    var baseURL: URL { HostSet.urls("a")[0] }
    var path: RequestPath { "/shop" }
    var method: HTTPMethod {
        if case .pay = self { .post } else { .get }
    }
}

extension Shop {
    var options: CallOptions {
        switch self {
        case .orders: .init()
        case .pay(let draft): .setting(\.idempotencyKey, draft)
        case .search: .setting(\.retryPolicy, .never)
        }
    }
}

/// The snippets of Resilience.md.
@Suite("Page: resilience", .throttled, .timeLimit(.minutes(3)))
struct ResiliencePageTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let main = HostSet.urls("a")[0]
    private let reserve = HostSet.urls("b")[0]

    private var transport: StubTransport { hosts.script.transport }

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

    @Test("Retry calls")
    func retry() async throws {
        hosts.set(.status(503), "a")
        let sent = await clock.stepping { [transport, clock] in
            let policy = RetryPolicy(attempts: 4, baseDelay: .milliseconds(300), statuses: [429, 502, 503, 504])
            let provider = Provider<Shop>(transport: transport, plugins: [RetryPlugin(policy: policy)], clock: clock)
            do throws(TargetKitError) {
                let orders = try await provider.request(.orders)
                Issue.record("\(orders)")
            } catch {
                #expect(error.response?.statusCode == 503)
            }
        }
        #expect(sent.sleeps.count == 3)
        #expect(hosts.visits == "aaaa")
    }

    @Test("Keys, policies and a budget")
    func targets() async throws {
        hosts.set(.status(503), "a")
        let careful = RetryPlugin(budget: RetryBudget(share: 0.1, minimum: 3))
        let provider = Provider<Shop>(transport: transport, plugins: [careful], clock: clock)
        for (target, count) in [(Shop.search, 1), (.pay(draft: "7"), 3), (.orders, 2), (.orders, 1)] {
            let before = hosts.visits.count
            _ = await clock.stepping { await provider.result(target) }
            #expect(hosts.visits.count - before == count)
        }
        let keys = hosts.script.requests.elements.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }
        #expect(keys == [nil, "7", "7", "7", nil, nil, nil])
    }

    @Test("Decide, observe, and send twice")
    func hooks() async throws {
        let retries = Recorder<String>()
        hosts.set(.status(503), "a")
        let retry = RetryPlugin(
            shouldRetry: { result, _ in
                guard case .failure(let error) = result else { return nil }
                return error.kind == .conflict ? true : nil
            },
            onRetry: { attempt, context in retries.append("\(context.target.method) \(attempt)") }
        )
        let provider = Provider<Shop>(transport: transport, plugins: [retry], clock: clock)
        let (result, _) = await clock.stepping { await provider.result(.orders) }
        #expect(retries.elements == ["GET server (HTTP 503)", "GET server (HTTP 503)"])
        #expect(result.failure?.previousAttempts.count == 2)
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

    @Test("Handle errors")
    func handlers() async {
        let errors = ErrorHandlingPlugin { error, context in
            error.kind == .rateLimited && context.attempt < 2 ? .retry(after: .seconds(1)) : .doNotRetry
        }
        let provider = Provider<Shop>(transport: transport, plugins: [errors], clock: clock)
        hosts.set(.status(429), "a")
        let sent = await clock.stepping { await provider.result(.orders) }
        #expect(sent.sleeps == [.seconds(1), .seconds(1)])
        #expect(hosts.visits == "aaa")
    }
}

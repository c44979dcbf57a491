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

/// The snippets of Retries.md.
@Suite("Page: retries", .throttled, .timeLimit(.minutes(3)))
struct RetriesPageTests {
    private let clock = ManualClock()
    private let hosts = HostSet()

    private var transport: StubTransport { hosts.script.transport }

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

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

/// Hosts that fail in every way, and calls that are cancelled at any time, through all plugins for resilience.
@Suite("A storm of calls", .throttled, .timeLimit(.minutes(5)))
struct ResilienceStormTests {
    private let clock = ManualClock()

    /// A transport whose answers depend on a random number for each request.
    private func transport(_ seed: UInt64) -> StubTransport {
        let random = Locked(SeededGenerator(seed: seed))
        return ScriptedTransport { [clock] request, _ in
            let number = random.withLock { Int.random(in: 0..<100, using: &$0) }
            if request.url?.host() == "c.example" { return .error(.cannotConnectToHost) }
            switch number {
            case 0..<60: return .status(200)
            case 60..<70: return .status(503)
            case 70..<74: return .status(429, ["Retry-After": "2"])
            case 74..<78: return .status(200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "1"])
            case 78..<84: return .error(.networkConnectionLost)
            case 84..<88: return .error(.timedOut)
            case 88..<92: return .failure(Boom())
            default:
                try await clock.sleep(for: .milliseconds(number * 20))
                return .status(200)
            }
        }
        .transport
    }

    @Test("Each of 2,000 calls ends once, and nothing is left behind", arguments: [1, 2, 3, 4] as [UInt64])
    func storm(_ seed: UInt64) async {
        let concurrency = ConcurrencyLimitPlugin(4)
        let rate = RateLimitPlugin(200, burst: 20, clock: clock)
        let breaker = CircuitBreakerPlugin(
            policy: .init(failures: 20, openFor: .seconds(2), slowCallThreshold: .seconds(1)),
            clock: clock
        )
        let retry = RetryPlugin(clock: clock)
        let plugins: [any Plugin] = [
            concurrency, rate, breaker, retry, HostFailoverPlugin(hosts: HostSet.urls("abc"), clock: clock),
            ErrorHandlingPlugin { error, context in
                error.kind == .rateLimited && context.attempt < 5 ? .retry(after: .milliseconds(100)) : .doNotRetry
            },
        ]
        var random = SeededGenerator(seed: seed)
        let providers = (0..<3).map { _ in
            Provider<SturdyTarget>(
                transport: transport(random.next()),
                plugins: (plugins + [HedgingPlugin(after: .milliseconds(500), budgetOf: retry, clock: clock)])
                    .shuffled(using: &random),
                clock: clock
            )
        }
        let ended = Tally()
        let steps = (0..<2_000).map { _ in random.next() }
        let (results, _) = await clock.stepping {
            await withTaskGroup(of: Result<Response, TargetKitError>.self) { group in
                for step in steps { group.addTask { await call(step, providers, ended) } }
                return await group.reduce(into: [Result<Response, TargetKitError>]()) { $0.append($1) }
            }
        }
        #expect(results.count == 2_000)
        #expect(ended.value == 2_000)
        #expect(results.contains { RecordingPlugin.Outcome($0) == .status(200) })
        #expect(providers.allSatisfy { $0.scope.inFlightCount == 0 })
        // An exchange can outlast a cancelled call.
        for provider in providers { await provider.scope.shutdown(grace: .zero) }
        #expect(concurrency.counts == (0, 0))
        #expect(rate.counts.waiting == 0)
    }

    /// Makes a call in a way that depends on a random number.
    private func call(
        _ step: UInt64,
        _ providers: [Provider<SturdyTarget>],
        _ ended: Tally
    ) async -> Result<Response, TargetKitError> {
        let provider = providers[Int(step % 3)]
        var target = SturdyTarget(path: "/\(step % 7)", method: step % 5 == 0 ? .post : .get)
        if step % 10 == 0 { target.key = { "key-\(step)" } }
        var options = CallOptions.setting(\.sharesInFlight, step % 4 == 0)
        if step % 6 == 0 { options.timeout = .wholeCall(.milliseconds(Int(step % 3_000) + 1)) }
        let (made, optionsMade) = (target, options)
        let priority: TaskPriority = step % 8 == 0 ? .background : .medium
        let task = Task(priority: priority) {
            await Result { () async throws(TargetKitError) in
                try await provider.request(made, options: optionsMade) as Response
            }
        }
        if step % 9 == 0 {
            for _ in 0..<(step % 40) { await Task.yield() }
            task.cancel()
        }
        let result = await task.value
        ended.add()
        return result
    }
}

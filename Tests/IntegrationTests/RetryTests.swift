// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A real server's statuses, with a clock that the test advances.
@Suite("httpbin: retry, failover and breaker", .throttled, .needs(.httpbin), .timeLimit(.minutes(2)))
struct RetryTests {
    private let clock = ManualClock()

    /// The number of requests, the result, and the number of delays.
    private func call(
        _ call: ServerCall,
        _ engine: Engine,
        _ plugins: any Plugin...
    ) async -> (sent: Int, status: Int?, error: TargetKitError?, waits: Int) {
        let sent = SentRequests()
        let provider = Provider<ServerCall>(
            transport: engine.ownTransport,
            plugins: plugins + [sent],
            clock: clock
        )
        // The timeout of an exchange would be one more sleep on the clock.
        let target = call.with { $0.options.timeout = .none }
        let stepper = Task { [clock] in
            var waits = 0
            while true {
                try? await clock.waitForSleepers(within: .seconds(600))
                if Task.isCancelled { return waits }
                clock.advanceToNextDeadline()
                waits += 1
            }
        }
        var (status, failure): (Int?, TargetKitError?)
        do throws(TargetKitError) {
            status = try await provider.request(target).statusCode
        } catch {
            failure = error
        }
        stepper.cancel()
        return (sent.count.withLock(\.self), status ?? failure?.response?.statusCode, failure, await stepper.value)
    }

    /// Counts the requests that reach the transport.
    private struct SentRequests: Plugin {
        let count = Locked(0)

        var place: PluginPlace { .observation }
        var hooks: PluginHooks { .exchange }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            count.withLock { $0 += 1 }
            return try await next(request)
        }
    }

    @Test(
        "503 and 429 are sent three times, accepted or not",
        arguments: Engine.allCases,
        [503, 429]
    )
    func statuses(_ engine: Engine, _ status: Int) async {
        for validation in [StatusValidation.none, .successCodes] {
            let target = ServerCall.httpbin(.get, "/status/\(status)").with { $0.validation = validation }
            let ending = await call(target, engine, RetryPlugin(clock: clock))
            #expect(ending.sent == 3)
            #expect(ending.status == status)
            #expect(ending.waits == 2)
            #expect((ending.error?.stage == .status) == (validation == .successCodes))
        }
        #expect(await call(.httpbin(.post, "/status/\(status)"), engine, RetryPlugin(clock: clock)).sent == 1)
        #expect(await call(.httpbin(.get, "/status/404"), engine, RetryPlugin(clock: clock)).sent == 1)
    }

    @Test("The next host is used after a 503, and after a refused connection", arguments: Engine.allCases)
    func failover(_ engine: Engine) async throws {
        let port = try ClosedPort()
        let httpbin = ServerAvailability.httpbin.baseURL
        let plugin = HostFailoverPlugin(hosts: [port.baseURL, httpbin], clock: clock)
        let post = await call(.httpbin(.post, "/anything"), engine, plugin)
        #expect(post.sent == 2)
        #expect(post.status == 200)
        #expect(plugin.currentHost == httpbin)
        // The only host that answers fails too, so the call tries both.
        let failing = await call(.httpbin(.get, "/status/503"), engine, plugin)
        #expect(failing.sent == 2)
        #expect(failing.error?.kind == .cannotConnect)
        #expect(plugin.currentHost == httpbin)
        withExtendedLifetime(port) {}
    }

    @Test(
        "Failures open the circuit, its time half-opens it, and a call that succeeds closes it",
        arguments: Engine.allCases
    )
    func breaker(_ engine: Engine) async {
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 3), clock: clock)
        let httpbin = ServerAvailability.httpbin.baseURL
        let ending = await call(.httpbin(.get, "/status/503"), engine, breaker, RetryPlugin(clock: clock))
        #expect(ending.sent == 3)
        #expect(breaker.state(of: httpbin) == .open)
        let held = await call(.httpbin(.get, "/status/200"), engine, breaker, RetryPlugin(clock: clock))
        #expect(held.sent == 0)
        #expect(held.error?.underlying is CircuitOpenError)
        clock.advance(by: .seconds(30))
        #expect(breaker.state(of: httpbin) == .halfOpen)
        #expect(await call(.httpbin(.get, "/status/200"), engine, breaker).status == 200)
        #expect(breaker.state(of: httpbin) == .closed)
    }

    @Test("All three in one array: the next host, then a delay, then the breaker", arguments: Engine.allCases)
    func together(_ engine: Engine) async throws {
        let port = try ClosedPort()
        let httpbin = ServerAvailability.httpbin.baseURL
        let breaker = CircuitBreakerPlugin(policy: .init(failures: 2), clock: clock)
        let failover = HostFailoverPlugin(hosts: [port.baseURL, httpbin], clock: clock)
        let ending = await call(.httpbin(.get, "/status/429"), engine, failover, breaker, RetryPlugin(clock: clock))
        // Refused, moved at once, and then twice after a delay at the host that answers.
        #expect(ending.sent == 4)
        #expect(ending.status == 429)
        #expect(ending.waits == 2)
        #expect(breaker.state(of: httpbin) == .closed)
        #expect(breaker.state(of: port.baseURL) == .closed)
        withExtendedLifetime(port) {}
    }
}

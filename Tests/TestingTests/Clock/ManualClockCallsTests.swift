// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
@testable import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls that work longer, in real time, than a clock could wait for.
@Suite("ManualClock: calls of providers", .throttled, .timeLimit(.minutes(3)))
struct ManualClockCallsTests {
    private let clock = ManualClock()

    /// A plugin whose hooks keep a thread busy, as a logger of large bodies does.
    private struct BusyPlugin: Plugin {
        let ended = Recorder<Int>()
        var retries = 0
        var time = Duration.milliseconds(100)

        private func work() {
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end {}
        }

        func willSend(_ request: URLRequest, context: RequestContext) { work() }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) { work() }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            work()
            return context.attempt < retries ? .retry(after: .seconds(3)) : .doNotRetry
        }

        func didFinish(_ call: FinishedCall, context: RequestContext) {
            work()
            ended.append(context.attempt)
        }
    }

    private func provider(
        _ plugins: [any Plugin],
        delay: Duration = .seconds(5),
        options: CallOptions = CallOptions()
    ) -> Provider<TeaShop> {
        Provider(stubClosure: { _ in .delayed(delay) }, plugins: plugins, options: options, clock: clock)
    }

    @Test("It returns after the last call has ended, beside busy threads or not", arguments: [0, 6])
    func calls(threads: Int) async throws {
        let isOver = Locked(false)
        for _ in 0..<threads { Thread.detachNewThread { while !isOver.withLock({ $0 }) {} } }
        defer { isOver.withLock { $0 = true } }
        let plugin = BusyPlugin()
        let provider = provider([plugin])
        let handles = (0..<3).map { _ in provider.request(.search("tea")) { _ in } }
        #expect(try await clock.runUntilIdle() == .seconds(5))
        #expect(plugin.ended.count == 3)
        #expect(provider.scope.inFlightCount == 0)
        for handle in handles { #expect(try await handle.response().statusCode == 200) }
    }

    @Test("A time limit is not reached while a call is at work")
    func limits() async throws {
        for timeout in [CallTimeout.wholeCall(.seconds(20)), .exchange(.seconds(6))] {
            let plugin = BusyPlugin()
            let shop = Provider<TeaShop>(
                stubClosure: { _ in .delayed(.seconds(5)) },
                plugins: [plugin],
                options: .setting(\.timeout, timeout),
                clock: clock
            )
            let start = clock.now
            let handle = shop.request(.search("tea")) { _ in }
            #expect(try await clock.runUntilIdle() == .seconds(5))
            #expect(try await handle.response().statusCode == 200)
            #expect(start.duration(to: clock.now) == .seconds(5))
        }
    }

    @Test("A time limit that is reached ends the call, and what follows it is waited for")
    func reachedLimits() async throws {
        let plugin = BusyPlugin(retries: 2)
        let transport = StubTransport(.response(status: 200, data: Data()))
        let provider = Provider<TeaShop>(
            transport: NetworkConditions(latency: .seconds(60)).transport(over: transport, clock: clock),
            plugins: [plugin],
            options: .setting(\.timeout, .exchange(.seconds(10))),
            clock: clock
        )
        let handle = provider.request(.search("tea")) { _ in }
        // Three attempts of 10 seconds, with two delays of 3 seconds.
        #expect(try await clock.runUntilIdle() == .seconds(36))
        #expect(plugin.ended.elements == [2])
        await #expect(throws: TargetKitError.self) { try await handle.response() }
    }

    @Test("A time limit counts from its beginning, no matter when the task of its timer starts")
    func startedLimits() async throws {
        let plugin = BusyPlugin(retries: 20, time: .zero)
        let transport = StubTransport(.response(status: 200, data: Data()))
        let provider = Provider<TeaShop>(
            transport: NetworkConditions(latency: .seconds(60)).transport(over: transport, clock: clock),
            plugins: [plugin],
            options: .setting(\.timeout, .exchange(.seconds(10))),
            clock: clock
        )
        let handles = (0..<5).map { _ in provider.request(.search("tea")) { _ in } }
        let time = try await clock.runUntilIdle()
        #expect(time == .seconds(21 * 10 + 20 * 3))
        #expect(plugin.ended.elements == Array(repeating: 20, count: 5))
        for handle in handles { await #expect(throws: TargetKitError.self) { try await handle.response() } }
    }

    @Test("A call that a plugin makes counts for the call that waits for it")
    func nested() async throws {
        struct Nesting: Plugin {
            let inner: Provider<TeaShop>

            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                _ = try await inner.request(.search("milk"))
                return request
            }
        }
        let (inner, outer) = (BusyPlugin(), BusyPlugin())
        let provider = provider([outer, Nesting(inner: provider([inner], delay: .seconds(2)))])
        let handle = provider.request(.search("tea")) { _ in }
        #expect(try await clock.runUntilIdle() == .seconds(7))
        #expect(outer.ended.count == 1)
        #expect(try await handle.response().statusCode == 200)
    }

    @Test("A call whose transport works for long is at work, although a plugin's hook surrounds it")
    func surrounded() async throws {
        struct Surrounding: Plugin {
            func exchange(
                _ request: TransportRequest,
                context: RequestContext,
                next: Exchange
            ) async throws -> TransportResponse {
                try await next(request)
            }
        }
        let transport = StubTransport { [clock] _ in
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { continuation.resume() }
            }
            try? await clock.sleep(for: .seconds(2))
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TeaShop>(transport: transport, plugins: [Surrounding()], clock: clock)
        let other = self.provider([], delay: .seconds(1)).request(.search("milk")) { _ in }
        let handle = provider.request(.search("tea")) { _ in }
        #expect(try await clock.runUntilIdle() == .seconds(2))
        #expect(try await handle.response().statusCode == 200)
        #expect(try await other.response().statusCode == 200)
    }

    @Test("Calls that share an exchange end with it")
    func shared() async throws {
        let plugin = BusyPlugin()
        let provider = provider([plugin], options: .setting(\.sharesInFlight, true))
        let handles = (0..<3).map { _ in provider.request(.search("tea")) { _ in } }
        _ = try await clock.runUntilIdle()
        #expect(plugin.ended.count == 3)
        for handle in handles { #expect(try await handle.response().statusCode == 200) }
    }

    @Test("Calls that wait for a shared exchange rest while the exchange sleeps")
    func sharedSleep() async throws {
        let provider = provider([], options: .setting(\.sharesInFlight, true))
        let handles = (0..<3).map { _ in provider.request(.search("tea")) { _ in } }
        try await clock.waitForSleepers()
        await clock.wait(for: .noCallAtWork)
        clock.advance(by: .seconds(5))
        for handle in handles { #expect(try await handle.response().statusCode == 200) }
    }

    @Test("A call is counted until it is cancelled, and the clock is idle then")
    func cancelled() async throws {
        let plugin = BusyPlugin()
        let provider = provider([plugin])
        let handle = provider.request(.search("tea")) { _ in }
        try await clock.waitForSleepers()
        handle.cancel()
        #expect(try await clock.runUntilIdle() == .zero)
        #expect(plugin.ended.count == 1)
    }

    @Test("It ends with a CancellationError while a call is at work")
    func cancelledRun() async throws {
        let gate = Gate()
        let transport = StubTransport { _ in
            await gate.wait()
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TeaShop>(transport: transport, clock: clock)
        let handle = provider.request(.search("tea")) { _ in }
        await gate.waitForArrivals(1)
        let run = Task { [clock] in try await clock.runUntilIdle() }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        gate.open()
        #expect(try await clock.runUntilIdle() == .zero)
        #expect(provider.scope.inFlightCount == 0)
        _ = try await handle.response()
    }
}

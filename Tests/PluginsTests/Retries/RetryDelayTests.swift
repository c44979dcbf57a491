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

@Suite("Retry delays", .throttled, .timeLimit(.minutes(3)))
struct RetryDelayTests {
    /// The delays of calls, in seconds; the plugin is called directly.
    private func waits(
        _ policy: RetryPolicy,
        _ generator: any RandomNumberGenerator & Sendable,
        calls: Int
    ) async throws -> [[Double]] {
        let plugin = RetryPlugin(policy: policy, budget: .unlimited, generator: generator)
        let request = URLRequest(url: .shop)
        let failure = TargetKitError(stage: .transport, request: request, underlying: URLError(.timedOut))
        var waits: [[Double]] = []
        for _ in 0..<calls {
            let context = RequestContext(target: SturdyTarget(), attempt: 0)
            plugin.willSend(try await plugin.prepare(request, context: context), context: context)
            var delays: [Double] = []
            while case .retry(let delay) = await plugin.retry(.failure(failure), context: context) {
                delays.append(delay / .seconds(1))
            }
            waits.append(delays)
        }
        return waits
    }

    @Test(
        "The longest wait doubles up to its bound",
        arguments: [
            (RetryPolicy(attempts: 8), [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8]),
            (RetryPolicy(attempts: 9, baseDelay: .seconds(1), maximumDelay: .seconds(5)), [1, 2, 4, 5, 5, 5, 5, 5]),
            (RetryPolicy(attempts: 4, baseDelay: .seconds(9), maximumDelay: .seconds(5)), [5, 5, 5]),
            (RetryPolicy(attempts: 3, baseDelay: .zero), [0, 0]),
            (RetryPolicy(attempts: 3, baseDelay: .seconds(-1)), [0, 0]),
            (RetryPolicy(attempts: 3, maximumDelay: .seconds(-1)), [0, 0]),
            (RetryPolicy(attempts: 1), []),
            (
                RetryPolicy(attempts: 3, baseDelay: .seconds(Int64.max), maximumDelay: .seconds(Int64.max)),
                [31_536_000, 31_536_000]
            ),
        ]
    )
    func bounds(_ policy: RetryPolicy, _ expected: [Double]) async throws {
        let waits = try await waits(policy, HighestNumbers(), calls: 1)[0]
        #expect(waits.count == expected.count)
        for (wait, bound) in zip(waits, expected) { #expect(abs(wait - bound) < 1e-9) }
    }

    @Test("A thousand repetitions of extreme policies overflow nothing")
    func extremes() async throws {
        let policy = RetryPolicy(attempts: 1000, baseDelay: .nanoseconds(1), maximumDelay: .seconds(Int64.max / 4))
        let waits = try await waits(policy, SeededGenerator(seed: 1), calls: 1)[0]
        #expect(waits.count == 999)
        // Longer than a year is a year.
        #expect(waits.allSatisfy { $0 >= 0 && $0 <= 365 * 86_400 })
    }

    @Test("The wait is spread evenly from zero to its bound: full jitter", arguments: [1, 2, 3] as [UInt64])
    func fullJitter(_ seed: UInt64) async throws {
        let calls = 4000
        let policy = RetryPolicy(attempts: 4, baseDelay: .seconds(1), maximumDelay: .seconds(3))
        let waits = try await waits(policy, SeededGenerator(seed: seed), calls: calls)
        for (repetition, bound) in [1.0, 2.0, 3.0].enumerated() {
            var bins = [Int](repeating: 0, count: 10)
            var sum = 0.0
            for call in waits {
                let share = try #require(call.indices.contains(repetition) ? call[repetition] : nil) / bound
                #expect(share >= 0 && share <= 1)
                bins[min(Int(share * 10), 9)] += 1
                sum += share
            }
            // The mean of 4,000 even shares has a deviation of 0.0046; this is four of them.
            #expect(abs(sum / Double(calls) - 0.5) < 0.0184)
            // Chi square of ten even bins: above 27.9 once in a thousand.
            let expected = Double(calls) / 10
            let chiSquare = bins.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
            #expect(chiSquare < 27.9)
        }
    }

    @Test("Equal seeds give equal delays, different seeds different ones")
    func seeded() async throws {
        let policy = RetryPolicy(attempts: 4)
        let one = try await waits(policy, SeededGenerator(seed: 7), calls: 5)
        #expect(try await waits(policy, SeededGenerator(seed: 7), calls: 5) == one)
        #expect(try await waits(policy, SeededGenerator(seed: 8), calls: 5) != one)
        #expect(Set(one.map { $0[0] }).count == 5)
    }

    @Test("A slow generator does not delay other calls")
    func slowNumbers() async throws {
        let others = Locked<(@Sendable () -> Void)?>(nil)
        let isDone = Locked(false)
        let numbers = AskingNumbers {
            // Another thread, since this one may hold the lock.
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                others.withLock { $0 }?()
                ended.signal()
            }
            // Waits only when the test fails.
            let isInTime = ended.wait(timeout: .now() + 20) == .success
            isDone.withLock { $0 = isInTime }
        }
        let plugin = RetryPlugin(budget: .unlimited, generator: numbers)
        let request = URLRequest(url: .shop)
        let (context, other) = (
            RequestContext(target: SturdyTarget(), attempt: 0), RequestContext(target: SturdyTarget(), attempt: 0)
        )
        others.withLock { $0 = { plugin.willSend(request, context: other) } }
        plugin.willSend(try await plugin.prepare(request, context: context), context: context)
        let failure = TargetKitError(stage: .transport, request: request, underlying: URLError(.timedOut))
        guard case .retry = await plugin.retry(.failure(failure), context: context) else {
            Issue.record("it was not tried again")
            return
        }
        #expect(isDone.withLock { $0 })
    }
}

/// A generator that calls a closure for each number.
private struct AskingNumbers: RandomNumberGenerator, Sendable {
    let ask: @Sendable () -> Void

    func next() -> UInt64 {
        ask()
        return .max
    }
}

@Suite("Retry-After", .throttled, .timeLimit(.minutes(3)))
struct RetryAfterTests {
    /// What the plugin does with a field.
    enum Reaction: Sendable, Equatable, CustomTestStringConvertible {
        /// It waits so many seconds.
        case waits(Double)
        /// The call ends.
        case givesUp
        /// It waits as long as without the field.
        case ignores

        var testDescription: String { "\(self)" }
    }

    /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func reaction(to headers: HTTPHeaders, now: Date = now, status: Int = 503) async -> Reaction {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(status, headers), .status(200))
        // Its own waits are a second, in the worst case.
        let policy = RetryPolicy(baseDelay: .seconds(0.25))
        let plugin = RetryPlugin(policy: policy, clock: clock, generator: HighestNumbers(), now: { now })
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin], clock: clock)
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        guard let sleep = sleeps.first else {
            #expect(RecordingPlugin.Outcome(result) == .status(status))
            return .givesUp
        }
        #expect(sleeps.count == 1)
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        return sleep <= .seconds(0.25) && sleep > .seconds(0.2) ? .ignores : .waits(sleep / .seconds(1))
    }

    @Test(
        "Seconds and the three forms of a date are waited for, up to the limit of a minute",
        arguments: [
            ("1", .waits(1)), ("17", .waits(17)), (" 17 ", .waits(17)), ("0017", .waits(17)), ("60", .waits(60)),
            ("61", .givesUp), ("99999999999999999999999", .givesUp),
            ("0", .ignores), ("-1", .ignores), ("1.5", .ignores), ("+3", .ignores), ("soon", .ignores), ("", .ignores),
            ("120 seconds", .ignores),
            // RFC 9110 §5.6.7
            ("Sun, 06 Nov 1994 08:49:47 GMT", .waits(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", .waits(10)),
            ("Sun Nov  6 08:49:47 1994", .waits(10)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .waits(60)),
            ("Sun, 06 Nov 1994 08:50:38 GMT", .givesUp),
            ("Sun, 06 Nov 1994 08:49:60 GMT", .waits(23)),
            ("Sunday, 06-Nov-95 08:49:47 GMT", .givesUp),
            // In the past, or not a date.
            ("Sun, 06 Nov 1994 08:49:37 GMT", .ignores),
            ("Sat, 05 Nov 1994 08:49:47 GMT", .ignores),
            ("Sunday, 06-Nov-93 08:49:47 GMT", .ignores),
            ("Sun, 31 Feb 1994 08:49:47 GMT", .ignores),
            ("Sun, 06 Nov 1994 08:49:47 PST", .ignores),
            ("Sun, 06 Nov 1994 08:49:47 +0200", .ignores),
            ("Sun, 06 Nov 1994 GMT", .ignores),
        ] as [(String, Reaction)]
    )
    func forms(_ value: String, _ expected: Reaction) async {
        #expect(await reaction(to: ["Retry-After": value]) == expected)
    }

    @Test(
        "A year of two digits is the one that is at most fifty years ahead",
        arguments: [("76", .givesUp), ("77", .ignores), ("25", .ignores), ("26", .waits(10)), ("94", .ignores)]
            as [(String, Reaction)]
    )
    func century(_ year: String, _ expected: Reaction) async {
        // Sat, 21 Nov 2026 00:00:00 GMT
        let now = Date(timeIntervalSince1970: 1_795_219_200)
        #expect(await reaction(to: ["Retry-After": "Saturday, 21-Nov-\(year) 00:00:10 GMT"], now: now) == expected)
    }

    @Test("A date is compared with the response's own, independently of the device's clock")
    func serverTime() async {
        let headers: HTTPHeaders = [
            "Date": "Tue, 15 Nov 1994 08:12:31 GMT", "Retry-After": "Tue, 15 Nov 1994 08:12:43 GMT",
        ]
        #expect(await reaction(to: headers) == .waits(12))
        #expect(await reaction(to: headers, now: .distantFuture) == .waits(12))
        let unreadable: HTTPHeaders = ["Date": "today", "Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"]
        #expect(await reaction(to: unreadable) == .waits(10))
    }

    @Test("The field counts with every status that is tried again", arguments: [408, 425, 429, 500, 502, 503, 504])
    func statuses(_ status: Int) async {
        #expect(await reaction(to: ["retry-after": "7"], status: status) == .waits(7))
        #expect(await reaction(to: ["Retry-After": "3600"], status: status) == .givesUp)
    }

    @Test("The limit can be set, also for one target")
    func limit() async {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(503, ["Retry-After": "3600"]), .status(200))
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [RetryPlugin(clock: clock)],
            clock: clock
        )
        var patient = RetryPolicy()
        patient.retryAfterLimit = .seconds(3600)
        let target = SturdyTarget(retryPolicy: patient)
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(sleeps == [.seconds(3600)])
    }

    @Test(
        "A server that asks for a longer delay than the call may take has answered",
        arguments: [
            ("30", .seconds(1), false), ("1", .seconds(1), false), ("30", .seconds(40), true),
        ] as [(String, Duration, Bool)],
        [false, true]
    )
    func deadline(_ ending: (delay: String, limit: Duration, isRepeated: Bool), isShared: Bool) async {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(429, ["Retry-After": ending.delay]), .status(200))
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [RetryPlugin(clock: clock)],
            options: .setting(\.timeout, .wholeCall(ending.limit)).setting(\.sharesInFlight, isShared),
            clock: clock
        )
        // The call's deadline and the delay.
        let stepper = Task {
            try? await clock.waitForSleepers(2, within: .seconds(600))
            if !Task.isCancelled { clock.advanceToNextDeadline() }
        }
        let result = await provider.result(SturdyTarget())
        stepper.cancel()
        #expect(RecordingPlugin.Outcome(result) == .status(ending.isRepeated ? 200 : 429))
    }

    @Test("The longest delay is a year", arguments: ["1099511627776", "99999999999999999999999"])
    func longest(_ value: String) async {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(503, ["Retry-After": value]), .status(200))
        var patient = RetryPolicy()
        patient.retryAfterLimit = .seconds(Int64.max)
        let plugin = RetryPlugin(policy: patient, clock: clock)
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin], clock: clock)
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(sleeps == [.seconds(365 * 86_400)])
    }
}

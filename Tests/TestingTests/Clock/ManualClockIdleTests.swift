// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("ManualClock: running until idle", .alone, .timeLimit(.minutes(2)))
struct ManualClockIdleTests {
    /// A loop of tasks that a busy machine delays doesn't count as finished.
    private let clock = ManualClock(quietLimit: 300)

    /// Sleeps for each duration, one after another.
    private func sleeps(_ durations: [Duration], _ seen: Recorder<Duration> = Recorder()) -> Task<Void, any Error> {
        Task { [clock] in
            for duration in durations {
                try await clock.sleep(for: duration)
                seen.append(clock.now.offset)
            }
        }
    }

    @Test("A loop that sleeps again and again is run to its end")
    func loop() async throws {
        let task = sleeps([.seconds(1), .seconds(2), .seconds(4)])
        try await clock.waitForSleepers()
        #expect(try await clock.runUntilIdle() == .seconds(7))
        try await task.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("Concurrent tasks see each of their own deadlines")
    func concurrent() async throws {
        let (fast, slow) = (Recorder<Duration>(), Recorder<Duration>())
        let tasks = [
            sleeps(Array(repeating: .seconds(1), count: 30), fast), sleeps([.seconds(10), .seconds(15)], slow),
        ]
        try await clock.waitForSleepers(2)
        #expect(try await clock.runUntilIdle() == .seconds(30))
        for task in tasks { try await task.value }
        #expect(fast.elements == (1...30).map { .seconds($0) })
        #expect(slow.elements == [.seconds(10), .seconds(25)])
    }

    @Test("It returns at once if no task sleeps, or sleeps for zero")
    func idle() async throws {
        #expect(try await clock.runUntilIdle() == .zero)
        try await sleeps([.zero, .seconds(-1)]).value
        #expect(try await clock.runUntilIdle() == .zero)
    }

    @Test("A loop that does not end is an error that lists the remaining sleeps")
    func endless() async throws {
        let task = Task { [clock] in
            while true { try await clock.sleep(for: .seconds(60)) }
        }
        try await clock.waitForSleepers()
        let error = await #expect(throws: (any Error).self) { try await clock.runUntilIdle(limit: 10) }
        #expect(
            "\(try #require(error))" == """
                The clock was moved 10 times, to start + 600.0 seconds, and 1 task still sleeps, for 60.0 seconds. If one \
                of them is in a loop that doesn't end, cancel it, or move the time with advance(by:).
                """
        )
        task.cancel()
    }

    @Test("The limit counts steps, and the last one is allowed", arguments: [2, 3])
    func limit(steps: Int) async throws {
        let task = sleeps([.seconds(1), .seconds(1), .seconds(1)])
        try await clock.waitForSleepers()
        if steps == 3 {
            #expect(try await clock.runUntilIdle(limit: 3) == .seconds(3))
        } else {
            await #expect(throws: (any Error).self) { try await clock.runUntilIdle(limit: 2) }
        }
        task.cancel()
    }

    @Test("With a limit of no steps, it only waits", arguments: [0, -1, .min])
    func noSteps(limit: Int) async throws {
        #expect(try await clock.runUntilIdle(limit: limit) == .zero)
    }

    @Test("It ends with a CancellationError when its task is cancelled")
    func cancelled() async throws {
        let endless = Task { [clock] in
            while true { try await clock.sleep(for: .seconds(1)) }
        }
        try await clock.waitForSleepers()
        // On a busy machine, the sleeping task can be taken for finished: then it begins again.
        let running = Task<Void, any Error> {
            while true { try await clock.runUntilIdle(limit: .max) }
        }
        while clock.now.offset < .seconds(3) {
            try Task.checkCancellation()
            await Task.yield()
        }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        endless.cancel()
    }

    @Test("The timeout of a whole call is measured by the clock, as the documentation shows")
    func timeout() async throws {
        let provider = Provider<TeaShop>(
            stubClosure: { _ in .delayed(.seconds(60)) },
            options: .setting(\.timeout, .wholeCall(.seconds(10))),
            clock: clock
        )
        let call = Task { try await provider.request(.search("tea")) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(10))
        await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@Suite("ManualClock, and what tests use to wait", .throttled)
struct ManualClockTests {
    @Test("Tasks are resumed exactly when their deadlines are reached", .timeLimit(.minutes(3)))
    func advance() async throws {
        let clock = ManualClock()
        let woken = Recorder<Int>()
        let tasks = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                woken.append(seconds)
            }
        }
        try await clock.waitForSleepers(3)
        #expect(clock.remainingSleeps == [.seconds(1), .seconds(2), .seconds(3)])
        for second in 1...3 {
            clock.advance(by: .milliseconds(999))
            #expect(clock.sleeperCount == 4 - second)
            clock.advance(by: .milliseconds(1))
            #expect(await woken.waitForCount(second) == Array(1...second))
        }
        for task in tasks { try await task.value }
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("A cancelled sleep throws immediately, and is no longer counted", .timeLimit(.minutes(3)))
    func cancel() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A loop can be run step by step", .timeLimit(.minutes(3)))
    func nextDeadline() async throws {
        let clock = ManualClock()
        let task = Task {
            for delay in [1, 2, 4] { try await clock.sleep(for: .seconds(delay)) }
        }
        for delay in [1, 2, 4] {
            try await clock.waitForSleepers()
            #expect(clock.advanceToNextDeadline() == .seconds(delay))
        }
        try await task.value
        #expect(clock.now.offset == .seconds(7))
        #expect(clock.advanceToNextDeadline() == .zero)
    }

    @Test("A step returns how far it moved the time, even if another thread moves it on at once")
    func stepBesideOthers() async throws {
        let clock = ManualClock()
        let sleepers = (0..<2_000).map { _ in Task { try await clock.sleep(for: .seconds(1)) } }
        try await clock.waitForSleepers(sleepers.count)
        let isRunning = Locked(false)
        Thread.detachNewThread {
            isRunning.withLock { $0 = true }
            while clock.now.offset < .seconds(1) {}
            clock.advance(by: .seconds(40))
        }
        while !isRunning.withLock(\.self) { await Task.yield() }
        #expect(clock.advanceToNextDeadline() == .seconds(1))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test("It can be used as any clock, and does not sleep until a time that has passed")
    func existential() async throws {
        let clock: any Clock<Duration> = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
    }

    @Test("A sleep that is cancelled while the time is moved ends exactly once", .timeLimit(.minutes(3)))
    func race() async {
        for _ in 0..<500 {
            let clock = ManualClock()
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            let other = Task { task.cancel() }
            clock.advance(by: .seconds(1))
            await other.value
            _ = await task.result
            #expect(clock.sleeperCount == 0)
        }
    }

    @Test("An open gate lets all tasks pass, cancelled or not", .timeLimit(.minutes(3)))
    func gate() async throws {
        let gate = Gate()
        let deaf = Task { await gate.wait() }
        let listening = Task { try await gate.waitUnlessCancelled() }
        await gate.waitForArrivals(2)
        deaf.cancel()
        listening.cancel()
        await #expect(throws: CancellationError.self) { try await listening.value }
        #expect(!gate.isOpen)
        gate.open()
        await deaf.value
        try await gate.waitUnlessCancelled()
    }

    @Test("A counter resumes tasks at their values, and all of them when it is closed", .timeLimit(.minutes(3)))
    func tally() async throws {
        let tally = Tally()
        let reached = Task { try await tally.wait(for: 3) }
        let missed = Task { try await tally.wait(for: 5) }
        for _ in 0..<4 { tally.add() }
        try await reached.value
        tally.close()
        await #expect(throws: CancellationError.self) { try await missed.value }
        try await tally.wait(for: 4)
    }

    @Test("Waiting for an element of a recorder returns it, or ends with an error when the task is cancelled")
    func element() async throws {
        let recorder = Recorder<Int>()
        let waiting = Task { try await recorder.element(1) }
        recorder.append(7)
        recorder.append(8)
        #expect(try await waiting.value == 8)
        let cancelled = Task { try await recorder.element(2) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("An expectation and a recorder count from many tasks at once", .timeLimit(.minutes(3)))
    func counting() async throws {
        let expectation = Expectation(count: 1_000)
        let recorder = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    recorder.append(number)
                    expectation.fulfill()
                }
            }
            await expectation.wait()
            #expect(await recorder.waitForCount(1_000).sorted() == Array(0..<1_000))
        }
        #expect(expectation.fulfilledCount == 1_000)
    }

    @Test("A seed results in the numbers of the published SplitMix64")
    func splitMix() {
        // The first outputs of the reference code by Vigna (prng.di.unimi.it/splitmix64.c) for the seed 1234567.
        var generator = SeededGenerator(seed: 1_234_567)
        let numbers = (0..<3).map { _ in generator.next() }
        #expect(numbers == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test("If too few tasks sleep, the error says which ones do", .timeLimit(.minutes(3)))
    func missingSleepers() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(10)) }
        try await clock.waitForSleepers()
        let error = await #expect(throws: (any Error).self) {
            try await clock.waitForSleepers(2, within: .milliseconds(10))
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("Expected 2 tasks to sleep on the clock within 0.01 seconds, found 1"))
        #expect(text.contains("which sleep for 10.0 seconds"))
        task.cancel()
        let waiting = Task { try await clock.waitForSleepers(3) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A wait that is cancelled by its limit isn't in time, even if it returns at once", .timeLimit(.minutes(3)))
    func cancelledByLimit() async {
        let (closed, hasResult) = (Gate(), DispatchSemaphore(value: 0))
        let value = await Deadline.value(.milliseconds(100)) {
            // Holds the limit up between its cancellation and what follows, but not forever.
            await withTaskCancellationHandler {
                _ = try? await closed.waitUnlessCancelled()
            } onCancel: {
                _ = hasResult.wait(timeout: .now() + 20)
            }
            return true
        }
        hasResult.signal()
        #expect(value == nil)
    }

    @Test("The longest durations do not overflow")
    func longest() async throws {
        let clock = ManualClock()
        for _ in 0..<20 { clock.advance(by: .seconds(Int64.max)) }
        #expect(clock.now.offset == .seconds(Int64.max))
        try await clock.sleep(for: .seconds(Int64.max))
        #expect(clock.now.duration(to: ManualClock.Instant(offset: .seconds(Int64.min))) < .zero)
    }
}

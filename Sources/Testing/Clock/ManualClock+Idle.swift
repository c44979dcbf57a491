// SPDX-License-Identifier: MIT
import Foundation

extension ManualClock {
    /// Moves the time from deadline to deadline until no task sleeps on this clock, and no call is active.
    ///
    /// The clock counts the calls of providers that use it. It moves the time only while each of them sleeps, and
    /// returns after the last one ends, regardless of the machine's load. It stops waiting for a call that neither
    /// sleeps nor ends for 10 seconds in real time, for example because the call waits for the test.
    ///
    /// The clock can't detect the activity of other tasks between two sleeps, nor of a call whose plugin waits in an
    /// asynchronous hook while other tasks sleep. They count as finished if they don't sleep again within 20
    /// milliseconds in real time. If they take longer, use ``waitForSleepers(_:within:)`` and
    /// ``advanceToNextDeadline()``.
    ///
    /// - Parameter limit: The maximum number of steps; default: 1,000.
    /// - Returns: The duration by which the time was moved.
    /// - Throws: An error that lists the remaining sleeps if tasks still sleep after the limit, for example in an
    ///   endless loop, or `CancellationError`.
    @discardableResult
    public func runUntilIdle(limit: Int = 1_000) async throws -> Duration {
        let start = now
        try await settle()
        for _ in 0..<max(0, limit) {
            var next = advanceAndCount(whileCallsRest: true)
            // A call began after the clock had settled.
            while next == nil {
                try await settle()
                next = advanceAndCount(whileCallsRest: true)
            }
            guard let step = next, step.resumed > 0 else { return start.duration(to: now) }
            try await settle(after: step)
        }
        let remaining = remainingSleeps
        guard !remaining.isEmpty else { return start.duration(to: now) }
        let tasks = Plural.of(remaining.count, noun: "task") + (remaining.count == 1 ? " still sleeps" : " still sleep")
        throw ExpectationFailure(
            "The clock was moved \(limit) times, to \(now), and \(tasks), for \(Self.list(remaining)). "
                + "If one of them is in a loop that doesn't end, cancel it, or move the time with advance(by:)."
        )
    }

    /// The first sleeps of a list, for a message.
    static func list(_ sleeps: [Duration]) -> String {
        sleeps.prefix(5).map { "\($0)" }.joined(separator: ", ") + (sleeps.count > 5 ? ", …" : "")
    }

    /// Waits until no call is active, and other tasks sleep or seem to be finished.
    private func settle(after step: Step? = nil) async throws {
        repeat {
            try await waitForCalls()
            let isKnown = state.withLock { state in
                step.map { $0.unowned == 0 && $0.endedCalls == state.calls.endedCount } == true
                    && !state.calls.hasWaiting
            }
            if isKnown { return }
            try await waitForOthers(untilSleepCount: step.map { $0.startedSleeps + $0.resumed } ?? .max)
        } while !state.withLock(\.callsAtWork.isEmpty)
    }

    /// Waits until a number of sleeps have started, or nothing happens for as long as the clock waits.
    private func waitForOthers(untilSleepCount expected: Int) async throws {
        var count = activityCount
        var quiet = 0
        while quiet < quietLimit {
            for _ in 0..<20 {
                guard state.withLock(\.startedSleepCount) < expected else { return }
                await Task.yield()
            }
            try await Task.sleep(for: .milliseconds(1))
            let current = activityCount
            quiet = current == count ? quiet + 1 : 0
            count = current
        }
    }

    /// The number of started sleeps, and of started and ended calls.
    private var activityCount: Int { state.withLock { $0.startedSleepCount + $0.calls.changeCount } }
}

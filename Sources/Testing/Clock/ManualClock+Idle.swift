// SPDX-License-Identifier: MIT
import Foundation

extension ManualClock {
    /// Moves the time from deadline to deadline until no task sleeps on this clock.
    ///
    /// After each step it waits until the resumed tasks sleep again or have nothing left to do. A clock cannot know
    /// what tasks do between two sleeps, so a task counts as finished if it has not slept again after 20 milliseconds
    /// in real time. If the code under test waits longer, for example for a server, use ``waitForSleepers(_:within:)``
    /// and ``advanceToNextDeadline()``.
    ///
    /// - Parameter limit: The number of steps after which it fails; default: 1,000.
    /// - Returns: How far the time was moved.
    /// - Throws: An error that lists the remaining sleeps if tasks still sleep after the limit, for example in a loop
    ///   that never ends; `CancellationError`.
    @discardableResult
    public func runUntilIdle(limit: Int = 1_000) async throws -> Duration {
        let start = now
        try await settle()
        for _ in 0..<max(0, limit) {
            let (count, resumed) = advanceAndCount()
            guard resumed > 0 else { return start.duration(to: now) }
            try await settle(untilSleepCount: count + resumed)
        }
        let remaining = remainingSleeps
        guard !remaining.isEmpty else { return start.duration(to: now) }
        throw ClockNotIdle(limit: limit, now: now, remaining: remaining)
    }

    /// Waits until a number of sleeps have begun since the start, or none has begun for 20 milliseconds.
    private func settle(untilSleepCount expected: Int = .max) async throws {
        var count = startedSleepCount
        var quiet = 0
        while quiet < 20 {
            for _ in 0..<20 {
                guard startedSleepCount < expected else { return }
                await Task.yield()
            }
            try await Task.sleep(for: .milliseconds(1))
            let current = startedSleepCount
            quiet = current == count ? quiet + 1 : 0
            count = current
        }
    }
}

/// Tasks still sleep after the limit of steps.
private struct ClockNotIdle: LocalizedError, CustomStringConvertible {
    let limit: Int
    let now: ManualClock.Instant
    let remaining: [Duration]

    var description: String {
        let sleeps = remaining.prefix(5).map { "\($0)" }.joined(separator: ", ")
        let rest = remaining.count > 5 ? ", …" : ""
        return """
            The clock was moved \(limit) times, to \(now), and \(Plural.of(remaining.count, "task")) still \(remaining.count == 1 ? "sleeps" : "sleep"), for \(sleeps)\(rest). \
            If one of them is in a loop that does not end, cancel it, or move the time with advance(by:).
            """
    }

    var errorDescription: String? { description }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// The delays before the entries of an outbox or the transfers of a queue are retried after failures. All times use one
/// clock.
///
/// The key is the group of an entry, or the identifier of a transfer.
package struct RetryDelays<Key: Hashable & Sendable>: Sendable {
    private struct Delay: Sendable {
        var failureCount = 0
        var end: Duration?

        func wait(at time: Duration) -> Duration { end.map { max(.zero, $0 - time) } ?? .zero }
    }

    /// The longest delay without `Retry-After`.
    private static var longest: Double { 300 }
    /// The longest `Retry-After` that is honored.
    private static var longestRetryAfter: Duration { .seconds(86_400) }

    /// After failures without a response.
    private var all = Delay()
    private var groups: [Key: Delay] = [:]

    package init() {}

    package func wait(at time: Duration) -> Duration { all.wait(at: time) }

    package func wait(of group: Key, at time: Duration) -> Duration { groups[group]?.wait(at: time) ?? .zero }

    package func failureCount(of group: Key) -> Int { groups[group]?.failureCount ?? 0 }

    /// Delays all entries.
    ///
    /// - Parameter group: The group of the failed entry, which other groups then overtake.
    package mutating func addNoResponse(_ group: Key?, at time: Duration) {
        all = Self.next(after: all, at: time)
        if let group { groups[group, default: Delay()].failureCount += 1 }
    }

    /// Delays the entries of a group, at least as long as without `Retry-After`.
    package mutating func addUnavailable(_ group: Key, retryAfter: Duration?, at time: Duration) {
        all = Delay()
        var delay = Self.next(after: groups[group] ?? Delay(), at: time)
        if let retryAfter { delay.end = max(delay.end ?? time, time + min(retryAfter, Self.longestRetryAfter)) }
        groups[group] = delay
    }

    /// Counts a failure without a response that happened during a delay of all entries.
    package mutating func countFailure(of group: Key) {
        groups[group, default: Delay()].failureCount += 1
    }

    /// The end of a group's delay; `nil` if it has none.
    package func end(of group: Key) -> Duration? { groups[group]?.end }

    /// Ends the delay of a group, but keeps its number of failures.
    package mutating func endDelay(of group: Key) {
        groups[group]?.end = nil
    }

    /// Ends the delay of a group that no longer exists.
    package mutating func forget(_ group: Key) {
        groups[group] = nil
    }

    /// Removes the delay of a group, because the server responded.
    package mutating func remove(_ group: Key) {
        all = Delay()
        groups[group] = nil
    }

    /// Ends the delays that the server didn't set.
    package mutating func endNoResponse() {
        all = Delay()
    }

    /// Ends all delays.
    package mutating func removeAll() {
        self = RetryDelays()
    }

    private static func next(after delay: Delay, at time: Duration) -> Delay {
        let bound = min(Double(1 << min(delay.failureCount, 16)), longest)
        return Delay(
            failureCount: delay.failureCount + 1,
            end: time + .seconds(bound * Double.random(in: 0.5...1))
        )
    }
}

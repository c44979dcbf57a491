// SPDX-License-Identifier: MIT
import Foundation

/// What is known of the difference between two clocks.
///
/// Each sample is a range in which the difference lies for sure, if nobody lies. Where ranges of several samples overlap, the
/// difference lies in all of them, which soon tells it more closely than any single one. A sample that contradicts the others
/// is passed over; when the next one agrees with it, both of them count, and what was known before does not.
struct ClockOffset: Sendable {
    /// How far two clocks may drift apart: 100 millionths, more than a quartz does.
    private static let drift = 1e-4

    /// A range of seconds, as of a moment of the local clock.
    struct Range: Sendable {
        var lowest: TimeInterval
        var highest: TimeInterval
        var date: Date

        /// The same, later.
        func widened(until later: Date) -> Range {
            let seconds = abs(later.timeIntervalSince(date)) * ClockOffset.drift
            return Range(lowest: lowest - seconds, highest: highest + seconds, date: later)
        }

        /// What both say; `nil` when they contradict each other.
        fileprivate func common(with other: Range) -> Range? {
            let lowest = max(lowest, other.lowest)
            let highest = min(highest, other.highest)
            return lowest <= highest ? Range(lowest: lowest, highest: highest, date: other.date) : nil
        }
    }

    /// What the samples have in common.
    private(set) var range: Range?
    /// The last sample, if it contradicts them.
    private var suspect: Range?

    mutating func add(_ sample: Range) {
        if let known = range?.widened(until: sample.date).common(with: sample) {
            range = known
            suspect = nil
        } else if range == nil {
            range = sample
        } else if let agreed = suspect?.widened(until: sample.date).common(with: sample) {
            range = agreed
            suspect = nil
        } else {
            suspect = sample
        }
    }
}

// SPDX-License-Identifier: MIT

/// Counts durations by length for percentiles, with little memory.
///
/// There is a bucket for each microsecond up to 63, and then 32 buckets of equal width for each doubling. A percentile
/// is the middle of its bucket, so its error is at most 1/64 (1.6 %) or half a microsecond. Durations are clamped to
/// the range from zero to 19 hours. A histogram uses at most 8 KiB, or 1.5 KiB if all durations are below a
/// millisecond.
package struct DurationHistogram: Sendable, Hashable {
    private static let subBuckets: UInt64 = 32
    private static let largest = Duration.microseconds((1 << 36 as Int64) - 1)

    private var buckets: [UInt64] = []
    /// The number of durations.
    package private(set) var count: UInt64 = 0
    /// The exact shortest duration; `nil` if there is none.
    package private(set) var shortest: Duration?
    /// The exact longest duration; `nil` if there is none.
    package private(set) var longest: Duration?
    /// The sum of the durations.
    package private(set) var total = Duration.zero

    /// Creates an empty histogram.
    package init() {}

    /// The mean duration; `nil` if there is none.
    package var mean: Duration? { count == 0 ? nil : total / Int64(clamping: count) }

    /// Counts a duration.
    package mutating func add(_ duration: Duration) {
        let duration = min(max(duration, .zero), Self.largest)
        let index = Self.bucket(of: duration.microseconds)
        if index >= buckets.count { buckets += Array(repeating: 0, count: index + 1 - buckets.count) }
        buckets[index] += 1
        count += 1
        shortest = min(shortest ?? duration, duration)
        longest = max(longest ?? duration, duration)
        total += duration
    }

    /// Adds the durations of another histogram.
    package mutating func add(_ other: DurationHistogram) {
        if other.buckets.count > buckets.count {
            buckets += Array(repeating: 0, count: other.buckets.count - buckets.count)
        }
        for (index, number) in other.buckets.enumerated() { buckets[index] += number }
        count += other.count
        shortest = [shortest, other.shortest].compactMap { $0 }.min()
        longest = [longest, other.longest].compactMap { $0 }.max()
        total += other.total
    }

    /// The duration that a share of the durations doesn't exceed. For example, `percentile(0.9)` is p90. It is always
    /// between ``shortest`` and ``longest``.
    ///
    /// - Parameter share: The share from 0 to 1; other numbers are clamped.
    /// - Returns: The duration, or `nil` if there are no durations.
    package func percentile(_ share: Double) -> Duration? {
        guard count > 0, let shortest, let longest else { return nil }
        let wanted = (min(max(share, 0), 1) * Double(count)).rounded(.up)
        // Both ends are known exactly.
        guard wanted > 1 else { return shortest }
        guard wanted < Double(count) else { return longest }
        var seen: UInt64 = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            if Double(seen) >= wanted { return min(max(Self.middle(of: index), shortest), longest) }
        }
        return longest
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= 2 * subBuckets else { return Int(value) }
        let doublings = UInt64(63 - value.leadingZeroBitCount) - 5
        return Int((doublings + 1) * subBuckets + (value >> doublings) - subBuckets)
    }

    private static func middle(of index: Int) -> Duration {
        let index = UInt64(index)
        guard index >= 2 * subBuckets else { return .nanoseconds(Int64(index) * 1000 + 500) }
        let doublings = index / subBuckets - 1
        let lowest = (index % subBuckets + subBuckets) << doublings
        return .nanoseconds(Int64(lowest * 1000 + (1000 << doublings) / 2))
    }
}

extension Duration {
    /// The duration in whole microseconds, rounded down and within the histogram's range.
    fileprivate var microseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: seconds) * 1_000_000 + UInt64(clamping: attoseconds / 1_000_000_000_000)
    }
}

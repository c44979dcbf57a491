// SPDX-License-Identifier: MIT
import Foundation
import TargetKitDiagnostics
import TargetKitTesting
import TestSupport
import Testing

@Suite("DurationHistogram", .throttled)
struct DurationHistogramTests {
    @Test("An empty one has no figures")
    func empty() {
        let histogram = DurationHistogram()
        #expect(histogram.count == 0)
        #expect(histogram.percentile(0.5) == nil)
        #expect(histogram.mean == nil)
        #expect(histogram.shortest == nil && histogram.longest == nil)
    }

    @Test(
        "Percentiles of many durations are within 1/64 of the exact ones, at any magnitude",
        arguments: [100, 10_000, 1_000_000, 1_000_000_000, 60_000_000_000] as [Int64]
    )
    func exactness(largest: Int64) throws {
        var random = SeededGenerator(seed: UInt64(largest))
        var histogram = DurationHistogram()
        var all: [Duration] = []
        for _ in 0..<5_000 {
            let duration = Duration.microseconds(Int64.random(in: 0...largest, using: &random))
            histogram.add(duration)
            all.append(duration)
        }
        all.sort()
        for share in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let exact = all[Int((share * 5_000).rounded(.up)) - 1]
            let found = try #require(histogram.percentile(share))
            let error = found > exact ? found - exact : exact - found
            #expect(error <= max(exact / 64, .nanoseconds(500)), "\(share): \(found) for \(exact)")
        }
        #expect(histogram.percentile(0) == all.first)
        #expect(histogram.percentile(1) == all.last)
        #expect(histogram.shortest == all.first && histogram.longest == all.last)
        #expect(histogram.count == 5_000)
        #expect(histogram.total == all.reduce(.zero, +))
        #expect(histogram.mean == all.reduce(.zero, +) / 5_000)
    }

    @Test(
        "A single duration is each percentile of itself",
        arguments: [0, 1, 63, 64, 65, 1_000, 999_999_999] as [Int64]
    )
    func single(microseconds: Int64) {
        var histogram = DurationHistogram()
        histogram.add(.microseconds(microseconds))
        for share in [-1, 0, 0.5, 1, 7, .nan] {
            #expect(histogram.percentile(share) == .microseconds(microseconds))
        }
    }

    @Test("What is below zero counts as zero, what is over 19 hours as that, and nothing traps")
    func bounds() throws {
        var histogram = DurationHistogram()
        histogram.add(.seconds(-5))
        #expect(histogram.percentile(1) == .zero)
        for _ in 0..<40 { histogram.add(.seconds(Int64.max)) }
        for share in [0.9, 1] {
            let longest = try #require(histogram.percentile(share))
            #expect(longest > .seconds(18 * 3600) && longest < .seconds(20 * 3600))
        }
        #expect(histogram.count == 41)
    }

    @Test("Two together are as one that has counted both")
    func together() {
        var random = SeededGenerator(seed: 7)
        var (one, two, both) = (DurationHistogram(), DurationHistogram(), DurationHistogram())
        for index in 0..<1_000 {
            let duration = Duration.microseconds(Int64.random(in: 0...Int64(1) << (index % 30), using: &random))
            if index % 3 == 0 { one.add(duration) } else { two.add(duration) }
            both.add(duration)
        }
        var sum = one
        sum.add(two)
        #expect(sum == both)
        sum = two
        sum.add(one)
        #expect(sum == both)
        sum.add(DurationHistogram())
        #expect(sum == both)
    }
}

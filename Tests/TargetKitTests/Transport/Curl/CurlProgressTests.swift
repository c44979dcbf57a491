// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

@Suite("The progress of an exchange with libcurl", .throttled, .timeLimit(.minutes(1)))
struct CurlProgressTests {
    private let steps = Recorder<Int64>()

    @Test("Bytes that arrive soon after a report are reported later, even if no more bytes arrive")
    func stall() {
        let progress = CurlProgress(hasBody: false) { [steps] in steps.append($0.completed) }
        for (milliseconds, received) in [(0, 10), (20, 30), (40, 30), (60, 30), (200, 30)] as [(UInt64, Int64)] {
            let now = milliseconds * 1_000_000
            progress.move(up: 0, of: 0, unacknowledged: { 0 }, down: received, of: 100, now: now)
        }
        progress.queue.sync {}
        #expect(steps.elements == [10, 30])
    }
}
#endif

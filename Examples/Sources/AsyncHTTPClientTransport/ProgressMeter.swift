// SPDX-License-Identifier: MIT
import TargetKit

/// Counts the bytes of one direction, and reports them 20 times a second at most and at the end.
struct ProgressMeter {
    private let direction: TransferProgress.Direction
    private let total: Int64?
    private let report: (@Sendable (TransferProgress) -> Void)?
    private var completed: Int64 = 0
    private var lastReport: ContinuousClock.Instant?

    init(_ direction: TransferProgress.Direction, total: Int64?, report: (@Sendable (TransferProgress) -> Void)?) {
        self.direction = direction
        self.total = total
        self.report = report
    }

    mutating func add(_ count: Int) {
        guard let report else { return }
        completed += Int64(count)
        let now = ContinuousClock.now
        if let lastReport, completed != total, now - lastReport < .milliseconds(50) { return }
        lastReport = now
        report(TransferProgress(completed: completed, total: total, direction: direction))
    }

    func finish() {
        report?(TransferProgress(completed: completed, total: completed, direction: direction))
    }
}

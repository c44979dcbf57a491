// SPDX-License-Identifier: MIT

/// Counts the bytes of one direction, and says when they are worth a report.
struct URLSessionProgress: Sendable {
    private static let pause = Duration.milliseconds(50)

    let direction: TransferProgress.Direction
    var completed: Int64 = 0
    var total: Int64?
    private var reported: TransferProgress?
    private var reportedAt: ContinuousClock.Instant?

    init(direction: TransferProgress.Direction) {
        self.direction = direction
    }

    /// A report, unless there was a recent one. Completion is always reported: there may be no further report for a
    /// long time.
    mutating func due() -> TransferProgress? {
        let now = ContinuousClock.now
        if let reportedAt, completed != total, now - reportedAt < Self.pause { return nil }
        reportedAt = now
        return report()
    }

    /// The report at the end, unless it has been made; the total is known now.
    mutating func last(total: Int64?) -> TransferProgress? {
        self.total = total
        return report()
    }

    private mutating func report() -> TransferProgress? {
        let report = TransferProgress(completed: completed, total: total, direction: direction)
        guard report != reported else { return nil }
        reported = report
        return report
    }
}

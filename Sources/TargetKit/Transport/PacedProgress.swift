// SPDX-License-Identifier: MIT
import Dispatch

/// The progress of one direction of an exchange, reported at limited intervals.
struct PacedProgress: Sendable {
    /// The minimum time between reports, in nanoseconds.
    private static let interval: UInt64 = 50_000_000

    let direction: TransferProgress.Direction
    var completed: Int64 = 0
    var total: Int64?
    private var reported: TransferProgress?
    private var reportedAt: UInt64?

    init(_ direction: TransferProgress.Direction) {
        self.direction = direction
    }

    /// Whether there was no recent report.
    ///
    /// - Parameter now: The time in nanoseconds, by any clock.
    func isDue(_ now: UInt64) -> Bool { reportedAt.map { now >= $0 + Self.interval } ?? true }

    /// Whether all bytes are transferred, which is always reported at once.
    var isComplete: Bool { completed == total }

    /// Whether the current progress wasn't reported, because there was a recent report.
    var isWithheld: Bool { reported.map { $0.completed != completed } ?? false }

    /// Returns a report, unless there was a recent one. Completion is always reported, because the next report may be
    /// much later.
    mutating func reportIfDue(now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> TransferProgress? {
        guard isComplete || isDue(now) else { return nil }
        reportedAt = now
        return report()
    }

    /// Returns the final report, unless it was already made.
    mutating func finalReport(total: Int64?) -> TransferProgress? {
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

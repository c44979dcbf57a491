// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Reports the progress of one exchange on its own queue, so that a slow handler does not delay other calls.
final class CurlProgress {
    /// The minimum time between reports, in nanoseconds.
    private static let interval: UInt64 = 50_000_000

    private struct Track {
        var completed: Int64 = 0
        var total: Int64?
        var reportedAt: UInt64?

        func isDue(_ now: UInt64) -> Bool { reportedAt.map { now >= $0 + CurlProgress.interval } ?? true }
    }

    let queue = DispatchQueue(label: "TargetKit.curl.progress")
    private let report: @Sendable (TransferProgress) -> Void
    private let hasBody: Bool
    private var up = Track()
    private var down = Track()

    init(hasBody: Bool, report: @escaping @Sendable (TransferProgress) -> Void) {
        self.hasBody = hasBody
        self.report = report
    }

    /// Updates the progress; a total of 0 is unknown.
    ///
    /// - Parameter unacknowledged: Returns the number of bytes that were sent and that the server has not acknowledged.
    func move(
        up sent: Int64,
        of toSend: Int64,
        unacknowledged: () -> Int64,
        down received: Int64,
        of toReceive: Int64,
        now: UInt64
    ) {
        if hasBody, up.isDue(now) {
            move(\.up, .upload, to: max(up.completed, sent - unacknowledged()), of: toSend, now: now)
        }
        move(\.down, .download, to: received, of: toReceive, now: now)
    }

    private func move(
        _ track: ReferenceWritableKeyPath<CurlProgress, Track>,
        _ direction: TransferProgress.Direction,
        to completed: Int64,
        of total: Int64,
        now: UInt64
    ) {
        guard completed != self[keyPath: track].completed else { return }
        self[keyPath: track].completed = completed
        self[keyPath: track].total = total > 0 ? total : nil
        // Completion is always reported: there may be no further report for a long time.
        let isComplete = completed == total
        guard isComplete || self[keyPath: track].isDue(now) else { return }
        self[keyPath: track].reportedAt = now
        send(self[keyPath: track], direction)
    }

    /// Makes the last report of each direction. The response is complete; the request need not be, if the response was
    /// early.
    func finish(sent: Int64, of length: Int64?, received: Int64) {
        if hasBody { send(Track(completed: sent, total: length), .upload) }
        send(Track(completed: received, total: received), .download)
    }

    private func send(_ track: Track, _ direction: TransferProgress.Direction) {
        let progress = TransferProgress(completed: track.completed, total: track.total, direction: direction)
        queue.async { [report] in report(progress) }
    }
}
#endif

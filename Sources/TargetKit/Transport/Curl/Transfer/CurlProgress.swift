// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation

/// Reports the progress of one exchange on a separate queue, so that a slow handler doesn't delay other calls.
final class CurlProgress {
    let queue = DispatchQueue(label: "TargetKit.curl.progress")
    private let report: @Sendable (TransferProgress) -> Void
    private let hasBody: Bool
    private var up = PacedProgress(.upload)
    private var down = PacedProgress(.download)

    init(hasBody: Bool, report: @escaping @Sendable (TransferProgress) -> Void) {
        self.hasBody = hasBody
        self.report = report
    }

    /// Updates the progress; a total of 0 is unknown.
    ///
    /// - Parameter unacknowledged: Returns the number of sent bytes that the server didn't acknowledge yet.
    func move(
        up sent: Int64,
        of toSend: Int64,
        unacknowledged: () -> Int64,
        down received: Int64,
        of toReceive: Int64,
        now: UInt64
    ) {
        if hasBody, up.isDue(now) {
            move(&up, to: max(up.completed, sent - unacknowledged()), of: toSend, now: now)
        }
        move(&down, to: received, of: toReceive, now: now)
    }

    private func move(_ progress: inout PacedProgress, to completed: Int64, of total: Int64, now: UInt64) {
        guard completed != progress.completed || progress.isWithheld else { return }
        progress.completed = completed
        progress.total = total > 0 ? total : nil
        if let step = progress.reportIfDue(now: now) { send(step) }
    }

    /// Makes the last report of each direction. The response is complete; after an early response, the request may be
    /// incomplete.
    func finish(sent: Int64, of length: Int64?, received: Int64) {
        if hasBody { send(TransferProgress(completed: sent, total: length, direction: .upload)) }
        send(TransferProgress(completed: received, total: received, direction: .download))
    }

    private func send(_ progress: TransferProgress) {
        queue.async { [report] in report(progress) }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)

/// Reports the progress of one exchange on a separate queue, so that a slow handler doesn't delay other calls.
final class CurlProgress {
    let queue = DispatchQueue(label: "TargetKit.curl.progress")
    private let report: @Sendable (TransferProgress) -> Void
    /// Whether the upload is reported. The reports of the download follow the upload's last one.
    private var isUploading: Bool
    private var up = PacedProgress(.upload)
    private var down = PacedProgress(.download)

    init(hasBody: Bool, report: @escaping @Sendable (TransferProgress) -> Void) {
        isUploading = hasBody
        self.report = report
    }

    /// Updates the progress; a download's total of 0 is unknown.
    ///
    /// - Parameters:
    ///   - length: The length of the request's body; `nil` while it is unknown.
    ///   - unacknowledged: Returns the number of sent bytes that the server didn't acknowledge yet.
    func move(
        up sent: Int64,
        of length: Int64?,
        unacknowledged: () -> Int64,
        down received: Int64,
        of toReceive: Int64,
        now: UInt64
    ) {
        if isUploading {
            let limit = length ?? .max
            // A server that responds to the whole request has received it. Bytes in chunks are sent with their sizes.
            if received > 0, sent >= limit {
                move(&up, to: limit, of: length, now: now)
            } else if up.isDue(now) {
                move(&up, to: max(up.completed, min(sent - unacknowledged(), limit)), of: length, now: now)
            }
            // A response to a part of the request ends the reports of the upload, too.
            isUploading = received == 0 && !up.isComplete
        }
        if !isUploading { move(&down, to: received, of: toReceive > 0 ? toReceive : nil, now: now) }
    }

    private func move(_ progress: inout PacedProgress, to completed: Int64, of total: Int64?, now: UInt64) {
        let completes = completed == total && !progress.isComplete
        guard completed != progress.completed || completes || progress.isWithheld else { return }
        progress.completed = completed
        progress.total = total
        if let step = progress.reportIfDue(now: now) { send(step) }
    }

    /// Makes the last report of each direction. The response is complete; after an early response, the request may be
    /// incomplete.
    func finish(sent: Int64, of length: Int64?, received: Int64) {
        if isUploading { send(TransferProgress(completed: sent, total: length, direction: .upload)) }
        send(TransferProgress(completed: received, total: received, direction: .download))
    }

    private func send(_ progress: TransferProgress) {
        queue.async { [report] in report(progress) }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)

/// The outcome of an exchange and the continuation to resume with it.
struct CurlCompletion {
    let pending: CurlPendingCall
    let outcome: Result<TransportResponse, any Error>
    /// The channel of a streamed body, if its caller already received the response.
    var channel: BodyChannel?
    /// The queue on which progress is reported; the completion follows the last report.
    let queue: DispatchQueue?
    /// The writer of the downloaded file; the exchange ends when the last byte is written.
    var file: CurlFileWriter?

    /// Resumes the caller.
    consuming func deliver() {
        guard let file else { return Self.tell(pending, outcome: outcome, channel: channel, queue: queue) }
        file.close(outcome) { [pending, queue] in Self.tell(pending, outcome: $0, channel: nil, queue: queue) }
    }

    @inline(never)
    private static func tell(
        _ pending: CurlPendingCall,
        outcome: Result<TransportResponse, any Error>,
        channel: BodyChannel?,
        queue: DispatchQueue?
    ) {
        if let channel {
            channel.finish(forReader(outcome, pending).map { _ in })
        } else if let queue {
            queue.async { pending.continuation.resume(with: outcome) }
        } else {
            pending.continuation.resume(with: outcome)
        }
    }

    private static func forReader(
        _ outcome: Result<TransportResponse, any Error>,
        _ pending: CurlPendingCall
    ) -> Result<TransportResponse, any Error> {
        guard case .failure(let failure as TransportFailure) = outcome else { return outcome }
        return .failure(failure.error(for: pending.call.url))
    }
}
#endif

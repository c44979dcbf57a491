// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What came of an exchange, and who has to be told.
struct CurlEnding {
    let start: CurlStart
    let outcome: Result<TransportResponse, any Error>
    /// Where the body goes, when the caller has had its response at the end of the head.
    var channel: BodyChannel?
    /// The queue on which progress is reported: the end comes after the last report.
    let queue: DispatchQueue?
    /// The writer of the downloaded file; the exchange ends once the file is in place or removed.
    var file: CurlFileWriter?

    /// Tells them.
    consuming func deliver() {
        guard let file else { return Self.tell(start, outcome, channel, queue) }
        file.close(outcome) { [start, queue] in Self.tell(start, $0, nil, queue) }
    }

    private static func tell(
        _ start: CurlStart,
        _ outcome: Result<TransportResponse, any Error>,
        _ channel: BodyChannel?,
        _ queue: DispatchQueue?
    ) {
        let outcome = forCaller(outcome, start)
        if let channel {
            channel.finish(outcome.map { _ in })
        } else if let queue {
            queue.async { start.continuation.resume(with: outcome) }
        } else {
            start.continuation.resume(with: outcome)
        }
    }

    private static func forCaller(
        _ outcome: Result<TransportResponse, any Error>,
        _ start: CurlStart
    ) -> Result<TransportResponse, any Error> {
        guard case .failure(let failure as CurlFailure) = outcome else { return outcome }
        return .failure(failure.error(for: start.call.url))
    }
}
#endif

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
    let channel: BodyChannel?
    /// The queue on which progress is reported: the end comes after the last report.
    let queue: DispatchQueue?

    /// Tells them.
    consuming func deliver() {
        let (start, outcome) = (start, outcomeForCaller)
        if let channel {
            channel.finish(outcome.map { _ in })
        } else if let queue {
            queue.async { start.continuation.resume(with: outcome) }
        } else {
            start.continuation.resume(with: outcome)
        }
    }

    private var outcomeForCaller: Result<TransportResponse, any Error> {
        guard case .failure(let failure as CurlFailure) = outcome else { return outcome }
        return .failure(failure.error(for: start.call.url))
    }
}
#endif

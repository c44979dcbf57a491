// SPDX-License-Identifier: MIT
#if canImport(CCurl)
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
    func deliver() {
        let url = start.call.url
        let outcome = outcome.mapError { ($0 as? CurlFailure)?.error(for: url) ?? $0 }
        if let channel {
            channel.finish(outcome.map { _ in })
        } else if let queue {
            queue.async { [start] in start.continuation.resume(with: outcome) }
        } else {
            start.continuation.resume(with: outcome)
        }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// An answer that came before its request had gone: a server may answer the head alone (RFC 9113 §8.1, RFC 9112 §9.5).
struct CurlEarlyAnswer {
    /// How long nobody may take a byte of the request until it counts as unwanted, when the answer did not refuse it.
    static let patience: UInt64 = 1_000_000_000

    /// The bytes of the body that had gone when somebody last looked, and when they had.
    var sent: Int64
    var since: UInt64
}

extension CurlTransfer {
    /// Sees whether the answer, whose head is here, is early.
    func noteEarlyAnswer() {
        guard earlyAnswer == nil, let call = start?.call, call.hasBody else { return }
        let sent = offset(CURLINFO_SIZE_UPLOAD_T)
        let length: Int64? = if case .data(let data) = call.body { Int64(data.count) } else { upload?.length }
        if let length, sent >= length { return }
        earlyAnswer = CurlEarlyAnswer(sent: sent, since: clock.now)
        clock.setAlarm(clock.now)
    }

    /// Whether the exchange is over though the request has not gone: the answer is whole, and the rest unwanted.
    ///
    /// libcurl does not end such an exchange by itself: over HTTP/2 it waits for a window that the server will never open
    /// (7.88, which turns the processor round and round meanwhile), over HTTP/1.1 for somebody to read what it sends.
    func isOverEarly() -> Bool {
        guard let early = earlyAnswer else { return false }
        let sent = offset(CURLINFO_SIZE_UPLOAD_T)
        if sent != early.sent { earlyAnswer = CurlEarlyAnswer(sent: sent, since: clock.now) }
        let isUnwanted =
            head.statusCode >= 300 || (sent == early.sent && clock.now >= early.since + CurlEarlyAnswer.patience)
        if isUnwanted, isAnswerWhole { return true }
        clock.setAlarm(clock.now + CurlEarlyAnswer.patience / 4)
        return false
    }

    /// Whether the exchange has come to its end though libcurl says otherwise.
    func isWhole(despite result: CURLcode) -> Bool {
        switch result {
        // The rest of the request could not be sent; the answer does not depend on it.
        case CURLE_HTTP2_STREAM, CURLE_HTTP2, CURLE_SEND_ERROR: isAnswerWhole
        default: options.endsAtHead && head.isComplete
        }
    }

    /// Whether all of the response has come, by the length that its head says.
    private var isAnswerWhole: Bool {
        guard head.isComplete, !sink.isPaused else { return false }
        // RFC 9112 §6.3: these have no body.
        if head.statusCode == 204 || head.statusCode == 304 || options.endsAtHead { return true }
        let length = offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 && offset(CURLINFO_SIZE_DOWNLOAD_T) >= length
    }
}
#endif

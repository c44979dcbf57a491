// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// A response that comes before its request has gone: a server may answer the head alone (RFC 9113 §8.1, RFC 9112 §9.5).
extension CurlTransfer {
    /// How often a transfer that has been answered early is looked at.
    private static let lookInterval: UInt64 = 250_000_000

    /// Notes whether the response, whose head is here, is early.
    func noteEarlyAnswer() {
        guard !isAnsweredEarly, isBodyUnsent else { return }
        isAnsweredEarly = true
        clock.setAlarm(clock.now)
    }

    /// Whether the exchange is over though the request has not gone: the server refuses it, and its response is whole.
    ///
    /// libcurl does not end such an exchange by itself: over HTTP/2 it waits for a window that the server will never open
    /// (7.88, which turns the processor round and round meanwhile), over HTTP/1.1 for somebody to read what it sends. A response
    /// of 2xx does not end it, however long that takes: it is worth nothing before the whole request is with the server.
    func isOverEarly() -> Bool {
        guard isAnsweredEarly, head.statusCode >= 300 else { return false }
        if isAnswerWhole { return true }
        clock.setAlarm(clock.now + Self.lookInterval)
        return false
    }

    /// Whether the exchange has come to its end though libcurl says otherwise.
    func isWhole(despite result: CURLcode) -> Bool {
        switch result {
        // The rest of the request could not be sent; the answer does not depend on it.
        case CURLE_HTTP2_STREAM where head.isComplete && head.framing.length == nil && isReleased(by: result): true
        case CURLE_HTTP2_STREAM, CURLE_HTTP2, CURLE_SEND_ERROR: isAnswerWhole
        default: options.endsAtHead && head.isComplete
        }
    }

    /// Whether the body of the request has not gone out to its end.
    var isBodyUnsent: Bool {
        guard let call = start?.call, call.hasBody else { return false }
        let sent = offset(CURLINFO_SIZE_UPLOAD_T)
        if case .data(let data) = call.body { return sent < Int64(data.count) }
        guard let upload else { return false }
        return !upload.isAtEnd || sent < upload.count
    }

    /// Whether the server has said yes before it had the whole request, and did not say that it needs no more of it.
    func isCutShort(after result: CURLcode) -> Bool {
        (200..<300).contains(head.statusCode) && !isReleased(by: result) && isBodyUnsent
    }

    /// Whether the server has ended the stream with `NO_ERROR` after its response, because it needs no more of the request. RFC
    /// 9113 §8.1 forbids to discard such a response.
    ///
    /// libcurl 7.88 has no words of its own for the error when it can send no more to a stream that was closed without one.
    private func isReleased(by result: CURLcode) -> Bool {
        guard head.httpVersion == "HTTP/2" else { return false }
        return result == CURLE_OK || result == CURLE_HTTP2_STREAM && errorBuffer.pointee == 0
    }

    /// Has libcurl listen to an HTTP/2 stream to its end, also when the length of the response has come: 7.88 would hear no
    /// more of the window that the rest of the request needs, nor that the server wants no rest. nghttp2 sees to the length.
    func listenToEnd() {
        guard !options.ignoresLength, head.httpVersion == "HTTP/2", isBodyUnsent else { return }
        options.ignoresLength = true
        set(CURLOPT_IGNORE_CONTENT_LENGTH, 1)
    }

    /// The failure, and in the same sentence what of the body was not sent when the response came.
    func sayingUnsent(_ failure: CurlFailure) -> CurlFailure {
        guard isAnsweredEarly, isBodyUnsent else { return failure }
        let sent = offset(CURLINFO_SIZE_UPLOAD_T)
        let length: Int64? = if case .data(let data)? = start?.call.body { Int64(data.count) } else { upload?.length }
        let part = length.map { "\(sent) of \($0) bytes" } ?? "\(sent) bytes"
        var failure = failure
        failure.message += "; the server had answered with status \(head.statusCode) when \(part) of the body were sent"
        return failure
    }

    /// Whether all of the response has come, by the length that its head says.
    private var isAnswerWhole: Bool {
        guard head.isComplete, !isHeldUp else { return false }
        // RFC 9112 §6.3: these have no body.
        if head.statusCode == 204 || head.statusCode == 304 || options.endsAtHead { return true }
        guard let length = head.framing.length else { return false }
        return offset(CURLINFO_SIZE_DOWNLOAD_T) >= length
    }
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A response that arrives before the request is completely sent. A server can respond to the head alone (RFC 9113
/// §8.1, RFC 9112 §9.5).
extension CurlTransfer {
    /// The intervals at which a transfer with an early response is checked, in nanoseconds. Each is twice the previous
    /// interval.
    private static let checkIntervals: ClosedRange<UInt64> = 2_000_000...250_000_000

    /// Records whether the response is early, after its head arrived.
    func noteEarlyResponse() {
        guard !isResponseEarly, isBodyUnsent else { return }
        isResponseEarly = true
        earlyCheckInterval = Self.checkIntervals.lowerBound
        clock.setAlarm(clock.now)
    }

    /// Whether the exchange is complete although libcurl hasn't ended it.
    ///
    /// libcurl doesn't end an exchange whose complete response rejects the request. Over HTTP/2, it waits (in 7.88,
    /// with a busy loop) for a window that the server never opens; over HTTP/1.1, it waits for the server to read. A
    /// 2xx response doesn't end the exchange, because it is valid only after the server received the whole request.
    ///
    /// libcurl 7.88 also doesn't notice that an HTTP/2 stream ends when it sends the request's last byte, because
    /// nothing more arrives for the stream. ``wake()`` makes it check again.
    func canEndEarly() -> Bool {
        guard isResponseEarly else { return false }
        if isBodyUnsent {
            if head.statusCode >= 300, isResponseComplete { return true }
        } else if !isPaused, head.httpVersion == "HTTP/2" {
            // libcurl checked, and the server didn't end the stream, so the length determines the result.
            if earlyCheckInterval == Self.checkIntervals.upperBound, isResponseComplete { return true }
            wake()
        }
        clock.setAlarm(clock.now + earlyCheckInterval)
        earlyCheckInterval = min(earlyCheckInterval * 2, Self.checkIntervals.upperBound)
        return false
    }

    /// Makes libcurl read from the connection, even if nothing arrives.
    private func wake() {
        // Other handles of the connection that run first may consume libcurl's reminder to read.
        guard curl_easy_pause(easy, Int32(CURLPAUSE_SEND)) == CURLE_OK else { return }
        _ = curl_easy_pause(easy, Int32(CURLPAUSE_CONT))
    }

    /// Whether the exchange is complete although libcurl reports an error.
    func isComplete(despite result: CURLcode) -> Bool {
        switch result {
        // The rest of the request couldn't be sent; the response doesn't depend on it.
        case CURLE_HTTP2_STREAM where head.isComplete && head.framing.length == nil && isRequestReleased(by: result):
            true
        case CURLE_HTTP2_STREAM, CURLE_HTTP2, CURLE_SEND_ERROR: isResponseComplete
        case CURLE_PARTIAL_FILE where head.httpVersion == "HTTP/2", CURLE_RECV_ERROR where head.httpVersion == "HTTP/2":
            isResponseComplete
        default: options.endsAtHead && head.isComplete
        }
    }

    /// Whether part of the request's body wasn't sent.
    var isBodyUnsent: Bool {
        guard let call = current?.call, call.hasBody else { return false }
        return bodyLength.map { offset(CURLINFO_SIZE_UPLOAD_T) < $0 } ?? true
    }

    /// Whether the server reported success before it had the whole request, without releasing the rest.
    func isRequestCutShort(after result: CURLcode) -> Bool {
        (200..<300).contains(head.statusCode) && !isRequestReleased(by: result) && isBodyUnsent
    }

    /// Whether the server released the rest of the request after its response. RFC 9113 §8.1 forbids discarding such a
    /// response.
    private func isRequestReleased(by result: CURLcode) -> Bool {
        guard head.httpVersion == "HTTP/2" else { return false }
        return switch result {
        case CURLE_OK: true
        // libcurl 7.88 has no error message for a stream that ended with `NO_ERROR` while it was sending.
        case CURLE_HTTP2_STREAM: errorBuffer.pointee == 0
        // The connection ended after the response. After a GOAWAY, libcurl 7.88 also reports `NO_ERROR` this way.
        case CURLE_HTTP2, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR: isResponseComplete
        default: false
        }
    }

    /// Makes libcurl read an HTTP/2 stream to its end, even if the response is complete by its length. Otherwise, 7.88
    /// misses the window updates that the rest of the request needs, and the reset that releases it. nghttp2 checks the
    /// length.
    func readToStreamEnd() {
        guard !options.ignoresLength, head.httpVersion == "HTTP/2", isBodyUnsent else { return }
        options.ignoresLength = true
        set(CURLOPT_IGNORE_CONTENT_LENGTH, value: 1)
    }

    /// The failure, with the number of body bytes that were sent before the response.
    func describingUnsentBody(_ failure: TransportFailure) -> TransportFailure {
        guard isResponseEarly, isBodyUnsent else { return failure }
        let sent = offset(CURLINFO_SIZE_UPLOAD_T)
        let part = bodyLength.map { "\(sent) of \($0) bytes" } ?? "\(sent) bytes"
        var failure = failure
        failure.message += "; the server responded with status \(head.statusCode) after \(part) of the body were sent"
        return failure
    }

    /// Whether the response is complete by the length in its head.
    private var isResponseComplete: Bool {
        guard head.isComplete, !isPaused else { return false }
        // These responses have no body (RFC 9112 §6.3).
        if head.statusCode == 204 || head.statusCode == 304 || options.endsAtHead { return true }
        guard let length = head.framing.length else { return false }
        return offset(CURLINFO_SIZE_DOWNLOAD_T) >= length
    }
}
#endif

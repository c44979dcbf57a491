// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import CCurl
import Foundation

/// One of libcurl's easy handles and the exchange that it carries, of many one after another. Lives on the loop's thread.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    /// The number under which the loop knows it.
    let slot: Int
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    let clock: CurlClock

    /// The exchange under way; `nil` while the handle is kept for the next.
    private(set) var start: CurlStart?
    /// When the last byte came or went.
    private(set) var lastMove: UInt64 = 0
    var head = CurlHead()
    var sink = CurlSink.memory(Data(), limit: 0)
    var upload: CurlUpload?
    /// What one of our own callbacks has to say, which libcurl only knows as "the callback gave up".
    var failure: (any Error)?
    /// What the handle is set to, so that only what differs has to be set.
    var options = CurlOptions()

    init?(slot: Int, clock: CurlClock, sockets: CurlSockets, configuration: CurlTransport.Configuration) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.slot = slot
        self.clock = clock
        setUp(configuration, sockets: sockets)
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(options.headerList)
        errorBuffer.deallocate()
    }

    /// Takes up a call. After an error the transfer is as it was.
    func begin(_ start: CurlStart) throws {
        errorBuffer.pointee = 0
        try prepare(start.call)
        sink = CurlSink(start.call.destination)
        lastMove = clock.now
        self.start = start
        start.call.slot.store(slot, ordering: .relaxed)
    }

    /// Lets go of the call, and hands it out for somebody to resume.
    func end() -> CurlStart? {
        let ended = start
        ended?.call.slot.store(CurlCall.nowhere, ordering: .relaxed)
        start = nil
        head = CurlHead()
        sink = .memory(Data(), limit: 0)
        upload = nil
        failure = nil
        return ended
    }

    /// What came of the exchange, which libcurl has ended with that result.
    func outcome(_ result: CURLcode) throws -> TransportResponse {
        if let failure { throw failure }
        let isWhole = result == CURLE_OK || (options.endsAtHead && head.isComplete)
        guard isWhole else { throw curlFailure(result) }
        guard head.isComplete else { throw CurlFailure.headCutOff }
        let response = ResponseHead(
            statusCode: head.statusCode,
            headerLines: head.lines,
            httpVersion: head.httpVersion
        )
        return TransportResponse(head: response, body: try sink.finish(), metrics: metrics)
    }

    private func curlFailure(_ result: CURLcode) -> CurlFailure {
        var verification = 0
        var osError = 0
        _ = ccurl_getinfo_long(easy, CURLINFO_SSL_VERIFYRESULT, &verification)
        _ = ccurl_getinfo_long(easy, CURLINFO_OS_ERRNO, &osError)
        let message = String(cString: errorBuffer)
        return CurlFailure(result: result, message: message, verification: verification, osError: Int32(osError))
    }
}

// MARK: - What libcurl tells and asks

extension CurlTransfer {
    /// Takes a line of the head; `false` ends the exchange.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        lastMove = clock.now
        guard head.receive(line) else {
            failure = CurlFailure.headTooLarge
            return false
        }
        return !(options.endsAtHead && head.isComplete)
    }

    /// Takes bytes of the body, decoded; `false` ends the exchange.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        lastMove = clock.now
        do throws(CurlFailure) {
            try sink.receive(bytes)
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Gives bytes of the request's body; `nil` ends the exchange.
    func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        lastMove = clock.now
        do {
            return try upload?.read(into: buffer) ?? 0
        } catch {
            failure = error
            return nil
        }
    }

    /// Goes back to the start of the request's body; `false` when that cannot be done.
    func rewindBody() -> Bool {
        do {
            try upload?.rewind()
            return true
        } catch {
            failure = error
            return false
        }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// One of libcurl's easy handles and the exchange that it carries, of many one after another. Lives on the loop's thread.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    /// The number under which the loop knows it.
    let slot: Int
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    let clock: CurlClock
    let settings: CurlSettings
    let inbox: CurlInbox
    let sockets: CurlSockets
    let queue: CurlQueue
    /// Why this handle can carry nothing: the installed libcurl lacks what the configuration asks for.
    private var flaw: CurlFailure?

    /// The exchange under way; `nil` while the handle is kept for the next.
    @exclusivity(unchecked) private(set) var start: CurlStart?
    /// The host whose connections carry the call.
    @exclusivity(unchecked) private(set) var host: CurlQueue.Host?
    /// The socket of the connection, known once libcurl has waited for it.
    @exclusivity(unchecked) var descriptor: Int32 = -1
    /// Whether the queue counts the transfer among those that may open a connection.
    @exclusivity(unchecked) var mayConnect = false
    /// The number of times libcurl has started to send the request; always 0 if libcurl does not report it.
    @exclusivity(unchecked) var sendings = 0
    /// Whether the handle keeps state from an exchange that affects the next one: how often it repeated a request, and
    /// that a stream was refused.
    @exclusivity(unchecked) private(set) var isWorn = false
    /// Whether libcurl can be prevented from repeating a request.
    @exclusivity(unchecked) var canForbidRepeating = false
    /// Whether the transfer is paused while its socket is unknown.
    @exclusivity(unchecked) private var isUnknownPause = false
    /// What came of the exchange before, until it is delivered.
    @exclusivity(unchecked) var ending: CurlEnding?
    /// When the last byte came or went.
    @exclusivity(unchecked) var lastMove: UInt64 = 0
    /// Whether the head arrived before the request had been sent.
    @exclusivity(unchecked) var isAnsweredEarly = false
    /// Whether libcurl has been told to pause the body. The sink may have room again before the loop resumes the transfer,
    /// because it is emptied on another thread.
    @exclusivity(unchecked) private(set) var isHeldUp = false
    /// Whether the caller has its response already, and reads the body.
    @exclusivity(unchecked) private var isHeadDelivered = false
    @exclusivity(unchecked) var head = CurlHead()
    @exclusivity(unchecked) var sink = CurlSink.memory(Data(), limit: 0)
    @exclusivity(unchecked) var upload: CurlUpload?
    @exclusivity(unchecked) var progress: CurlProgress?
    /// What one of our own callbacks has to say, which libcurl only knows as "the callback gave up".
    @exclusivity(unchecked) var failure: (any Error)?
    /// What the handle is set to, so that only what differs has to be set.
    @exclusivity(unchecked) var options = CurlOptions()

    init?(slot: Int, loop: CurlLoop) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.slot = slot
        clock = loop.clock
        settings = loop.settings
        inbox = loop.inbox
        sockets = loop.sockets
        queue = loop.queue
        setUp()
        ccurl_setopt_pointer(easy, CURLOPT_SHARE, loop.share)
        do throws(CurlFailure) {
            try setUp(loop.settings)
        } catch {
            flaw = error
        }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(options.headerList)
        errorBuffer.deallocate()
    }

    /// When the transfer times out: by its deadline, or by the idle timeout.
    var due: UInt64 {
        if let deadline = start?.deadline { return deadline }
        let limit = settings.configuration.idleTimeout.curlNanoseconds
        // Before the request is sent it waits for a connection, which has a timeout of its own.
        let isWaiting = CurlLibrary.tellsSendings && sendings == 0
        return (isHeldUp || isWaiting ? clock.now : lastMove) + limit
    }

    /// The failure to report when the transfer times out.
    var lateness: CurlFailure { start?.deadline == nil ? .idle : .timedOut }

    /// Whether the connection is idle when libcurl stops waiting for it, so that no data is expected. It is not idle
    /// while the body's reader or source is slow. Over HTTP/2 data may arrive at any time.
    var leavesConnectionIdle: Bool { !isHeldUp && head.httpVersion != "HTTP/2" && !isBodyUnsent }

    /// Takes up a call. After an error the transfer carries none; ``end(with:)`` makes it as it was.
    func begin(_ start: CurlStart, at host: CurlQueue.Host, room: consuming [UInt8]) throws {
        if let flaw { throw flaw }
        errorBuffer.pointee = 0
        try prepare(start.call)
        prepareConnection(start.call, at: host)
        head = CurlHead(
            in: room,
            limit: settings.configuration.maxHeadSize,
            hasBody: start.call.method != "HEAD"
        )
        sink = CurlSink(start.call, inbox)
        lastMove = clock.now
        progress = start.call.progress.map { CurlProgress(hasBody: start.call.hasBody, report: $0) }
        self.start = start
        self.host = host
        sendings = 0
        descriptor = -1
        if host.version == .http2 {
            mayConnect = true
            queue.note(mayConnect: true, to: host)
        }
        start.call.slot.store(slot, ordering: .relaxed)
    }

    /// Lets go of the call, and keeps its end for somebody to deliver.
    func end(with outcome: Result<TransportResponse, any Error>) {
        ending = start.map { start in
            start.call.slot.store(CurlCall.nowhere, ordering: .relaxed)
            var ending = CurlEnding(start: start, outcome: outcome, channel: nil, queue: progress?.queue)
            switch sink {
            case .memory: break
            case .file(let writer, _): ending.file = writer
            case .stream(let channel): if isHeadDelivered { ending.channel = channel }
            }
            return ending
        }
        start = nil
        noteConnected()
        host = nil
        noteResumed()
        if sendings > 1 || (!CurlLibrary.tellsSendings && hasOpenedConnection) { isWorn = true }
        isHeldUp = false
        isHeadDelivered = false
        isAnsweredEarly = false
        progress = nil
        head = CurlHead()
        sink = .memory(Data(), limit: 0)
        upload = nil
        failure = nil
    }

    /// The call to repeat when the server refused it without processing it (RFC 9113 §6.8) and libcurl does not repeat
    /// it; otherwise `nil`.
    func refused(_ result: CURLcode) -> CurlStart? {
        guard result == CURLE_HTTP2, CurlLibrary.leavesRefusals, errorBuffer.pointee == 0, !head.hasBegun else {
            return nil
        }
        isWorn = true
        return start
    }

    /// What came of the exchange, which libcurl has ended with that result.
    func outcome(_ result: CURLcode) throws -> TransportResponse {
        if let failure { throw failure }
        if result != CURLE_OK { isWorn = true }
        guard result == CURLE_OK || isWhole(despite: result) else { throw curlFailure(result) }
        guard head.isComplete else { throw CurlFailure.headCutOff }
        if isCutShort(after: result) { throw sayingUnsent(.cutShort) }
        let metrics = metrics
        progress?.finish(sent: metrics.bytesSent, of: bodyLength, received: metrics.bytesReceived)
        return TransportResponse(head: head.response, body: sink.body, metrics: metrics)
    }

    /// The length of the request's body; `nil` while it is unknown.
    private var bodyLength: Int64? {
        if case .data(let data)? = start?.call.body { return Int64(data.count) }
        return upload?.length ?? upload?.lengthFound
    }
}

// MARK: - What libcurl tells and asks

extension CurlTransfer {
    /// Takes a line of the head; `false` ends the exchange.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        lastMove = clock.now
        let isTrailer = head.isComplete
        do throws(CurlFailure) {
            try head.receive(line)
        } catch {
            failure = error
            return false
        }
        if !head.isComplete { prepareForBody() }
        guard head.isComplete, !isTrailer else { return true }
        if head.framing.isAmbiguous { forbidReuse() }
        if let host, options.canShare == true { queue.note(isHTTP2: head.httpVersion == "HTTP/2", of: host) }
        noteEarlyAnswer()
        deliverHead()
        // libcurl would repeat the request with the same field indefinitely.
        if head.statusCode == 417, options.expects { options.endsAtHead = true }
        return !options.endsAtHead
    }

    /// Gives the caller its response when the body is streamed.
    private func deliverHead() {
        guard case .stream(let channel) = sink, !isHeadDelivered, let start else { return }
        isHeadDelivered = true
        let body = ResponseBody(from: CurlBodyOrigin(channel: channel, inbox: inbox, call: start.call))
        start.continuation.resume(returning: TransportResponse(head: head.response, body: .stream(body)))
    }

    /// Takes bytes of the body, decoded, and says what libcurl has to hear.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastMove = clock.now
        if isAnsweredEarly { clock.setAlarm(lastMove) }
        do throws(CurlFailure) {
            if try sink.receive(bytes) { return bytes.count }
            isHeldUp = true
            notePaused()
            return Int(CURL_WRITEFUNC_PAUSE)
        } catch {
            failure = error
            // Any other number than that of the bytes ends the exchange.
            return bytes.isEmpty ? 1 : 0
        }
    }

    /// Goes on where a body was held up.
    func goOn() -> CURLcode {
        lastMove = clock.now
        isHeldUp = false
        noteResumed()
        return curl_easy_pause(easy, Int32(CURLPAUSE_CONT))
    }

    private func notePaused() {
        guard descriptor < 0, !isUnknownPause else { return }
        isUnknownPause = true
        sockets.unknownPauses += 1
    }

    private func noteResumed() {
        guard isUnknownPause else { return }
        isUnknownPause = false
        sockets.unknownPauses -= 1
    }

    /// Gives bytes of the request's body, and says what libcurl has to hear.
    func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do {
            guard let upload else { return 0 }
            guard let count = try upload.read(into: buffer) else { return Int(CURL_READFUNC_PAUSE) }
            lastMove = clock.now
            return count
        } catch {
            failure = error
            return Int(CURL_READFUNC_ABORT)
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

// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A libcurl easy handle and its current exchange. Used only on the loop's thread.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    /// The index in the loop's list of transfers.
    let slot: Int
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    let clock: CurlClock
    let settings: CurlSettings
    let commandQueue: CurlCommandQueue
    let sockets: CurlSockets
    let queue: CurlConnectionQueue
    let goAways: CurlGoAways
    let arrivals: CurlArrivals
    /// The error of every call if the installed libcurl doesn't support the configuration.
    private var setUpFailure: TransportFailure?

    /// The current exchange; `nil` while the handle is idle.
    @exclusivity(unchecked) private(set) var current: CurlPendingCall?
    /// The host whose connections carry the call.
    @exclusivity(unchecked) private(set) var host: CurlConnectionQueue.Host?
    /// The socket of the connection, known after libcurl waits for it.
    @exclusivity(unchecked) var descriptor: Int32 = -1
    /// The time by which the name of the host has to be found; `nil` unless libcurl is looking it up.
    @exclusivity(unchecked) var lookupDue: UInt64?
    /// Whether the queue counts the transfer as one that may open a connection.
    @exclusivity(unchecked) var mayConnect = false
    /// The number of times libcurl started to send the request; always 0 if libcurl doesn't report it.
    @exclusivity(unchecked) var sendCount = 0
    /// Whether the next line of the head is the one after its status line, and libcurl logs it.
    @exclusivity(unchecked) var isFirstFieldNext = false
    /// Whether libcurl's log can be read.
    @exclusivity(unchecked) var canReadLog = false
    /// The connection to which the request is sent, if libcurl's log is read.
    @exclusivity(unchecked) var connection: CurlConnection?
    /// The HTTP/2 stream to which the request is sent, if libcurl's log is read.
    @exclusivity(unchecked) var stream: CurlStream?
    /// What is known of the end of the connection, if libcurl's log is read.
    @exclusivity(unchecked) var connectionEnd = CurlConnectionEnd()
    /// Whether the handle retains state that would affect its next exchange: the number of retries, or a refused
    /// stream.
    @exclusivity(unchecked) var mustBeDiscarded = false
    /// Whether libcurl can be prevented from retrying a request.
    @exclusivity(unchecked) var canForbidRepeating = false
    /// The completion of the previous exchange until it is delivered.
    @exclusivity(unchecked) var completion: CurlCompletion?
    /// The time when the last byte was sent or received.
    @exclusivity(unchecked) var lastActivity: UInt64 = 0
    /// Whether the head arrived before the request was sent.
    @exclusivity(unchecked) var isResponseEarly = false
    /// The time until the next check of an early response, in nanoseconds.
    @exclusivity(unchecked) var earlyCheckInterval: UInt64 = 0
    /// Whether libcurl was told to pause the body. The body writer is emptied on another thread, so it may have space
    /// again before the loop resumes the transfer.
    @exclusivity(unchecked) private(set) var isPaused = false
    /// Whether the caller received the response and reads the body.
    @exclusivity(unchecked) private var isHeadDelivered = false
    @exclusivity(unchecked) var head = CurlResponseHead()
    @exclusivity(unchecked) var bodyWriter = CurlBodyWriter.memory(Data(), limit: 0)
    /// Decodes the body; `nil` if it is returned as received.
    @exclusivity(unchecked) private var decoder: CurlBodyDecoder?
    @exclusivity(unchecked) var upload: CurlUpload?
    @exclusivity(unchecked) var progress: CurlProgress?
    /// The error of a callback. libcurl reports it only as an aborted callback.
    @exclusivity(unchecked) var failure: (any Error)?
    @exclusivity(unchecked) var options = CurlOptions()
    /// The header fields of the current call, which libcurl doesn't copy.
    var headers = CurlHeaderList()
    /// The addresses of the current call's host, which libcurl doesn't copy.
    var hostEntries = CurlList()

    init?(slot: Int, loop: CurlLoop) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.slot = slot
        clock = loop.clock
        settings = loop.settings
        commandQueue = loop.commandQueue
        sockets = loop.sockets
        queue = loop.queue
        goAways = loop.goAways
        arrivals = loop.arrivals
        setUp()
        ccurl_setopt_pointer(easy, CURLOPT_SHARE, loop.share)
        do throws(TransportFailure) {
            try setUp(loop.settings)
        } catch {
            setUpFailure = error
        }
    }

    deinit {
        curl_easy_cleanup(easy)
        errorBuffer.deallocate()
    }

    /// The time when the transfer times out, from its deadline, the idle timeout, or the timeout of a lookup.
    var due: UInt64 { min(lookupDue ?? .max, exchangeDue) }

    private var exchangeDue: UInt64 {
        if let deadline = current?.deadline { return deadline }
        let limit = settings.configuration.idleTimeout.curlNanoseconds
        // Before the request is sent, it waits for a connection, which has its own timeout.
        let isWaiting = CurlLibrary.reportsSending && sendCount == 0
        return (isPaused || isWaiting ? clock.now : lastActivity) + limit
    }

    /// The failure to report when the transfer times out.
    var timeoutFailure: TransportFailure {
        if let lookupDue, lookupDue < exchangeDue { return .unconnected(settings.configuration.connectTimeout) }
        return current?.deadline == nil ? .idle(settings.configuration.idleTimeout) : .timedOut
    }

    /// Whether the connection is idle when libcurl stops waiting for it, so that no data is expected. It isn't idle
    /// while the body's reader or source is slow. Over HTTP/2, data may arrive at any time.
    var leavesConnectionIdle: Bool { !isPaused && head.httpVersion != "HTTP/2" && !isBodyUnsent }

    /// Prepares the handle for a call. After an error, ``end(with:)`` resets it.
    func begin(_ pending: CurlPendingCall, at host: CurlConnectionQueue.Host) throws {
        if let setUpFailure { throw setUpFailure }
        errorBuffer.pointee = 0
        try prepare(pending.call)
        prepareConnection(pending.call, at: host)
        head = CurlResponseHead(
            capacity: CurlResponseHead.typicalSize,
            limit: settings.configuration.maxHeadSize,
            hasBody: pending.call.method != "HEAD",
            keepsInterim: pending.call.interimResponse != nil
        )
        bodyWriter = CurlBodyWriter(pending.call, commandQueue: commandQueue)
        lastActivity = clock.now
        progress = pending.call.progress.map { CurlProgress(hasBody: pending.call.hasBody, report: $0) }
        current = pending
        self.host = host
        sendCount = 0
        isFirstFieldNext = false
        stream = nil
        connectionEnd = CurlConnectionEnd()
        descriptor = -1
        if host.version == .http2 {
            mayConnect = true
            queue.note(mayConnect: true, to: host)
        }
        pending.call.slot.store(slot, ordering: .relaxed)
    }

    /// Prepares the handle to open a connection for a call, which takes it over.
    func beginConnecting(_ pending: CurlPendingCall) throws {
        // The completion of a failure needs it.
        current = pending
        if let setUpFailure { throw setUpFailure }
        errorBuffer.pointee = 0
        prepareOpening(pending.call)
        lastActivity = clock.now
    }

    /// Ends the call during a lookup, which libcurl can't end, and stores its completion. The handle stays with libcurl,
    /// without a timeout, after which libcurl would leave the lookup's thread behind.
    func abandon(with outcome: Result<TransportResponse, any Error>) {
        completion = takeCompletion(with: outcome)
        set(CURLOPT_CONNECTTIMEOUT_MS, value: Int(Int32.max))
        progress = nil
        bodyWriter = .memory(Data(), limit: 0)
        upload = nil
        mustBeDiscarded = true
    }

    /// Ends the call, and stores its completion.
    func end(with outcome: Result<TransportResponse, any Error>) {
        completion = takeCompletion(with: outcome)
        noteConnected()
        host = nil
        lookupDue = nil
        if sendCount > 1 || (!CurlLibrary.reportsSending && hasOpenedConnection) { mustBeDiscarded = true }
        isPaused = false
        isHeadDelivered = false
        isResponseEarly = false
        progress = nil
        head = CurlResponseHead()
        bodyWriter = .memory(Data(), limit: 0)
        decoder = nil
        upload = nil
        failure = nil
    }

    /// Takes the call; `nil` if its completion is already taken.
    private func takeCompletion(with outcome: Result<TransportResponse, any Error>) -> CurlCompletion? {
        guard let pending = current.take() else { return nil }
        pending.call.slot.store(CurlCall.noIndex, ordering: .relaxed)
        var completion = CurlCompletion(pending: pending, outcome: outcome, channel: nil, queue: progress?.queue)
        switch bodyWriter {
        case .memory: break
        case .file(let writer, _): completion.file = writer
        case .stream(let channel): if isHeadDelivered { completion.channel = channel }
        }
        return completion
    }

    /// The outcome of the exchange that libcurl ended with the result.
    func outcome(_ result: CURLcode) throws -> TransportResponse {
        if let failure { throw failure }
        if result != CURLE_OK { mustBeDiscarded = true }
        if isRefused(result) { throw TransportFailure.refused }
        guard result == CURLE_OK || isComplete(despite: result) else { throw curlFailure(result) }
        guard head.isComplete else { throw TransportFailure.headCutOff }
        if isRequestCutShort(after: result) { throw describingUnsentBody(.cutShort) }
        if let decoder {
            try decoder.finish()
        } else if result == CURLE_OK, isBodyCutOff {
            throw TransportFailure.bodyCutOff
        }
        let metrics = metrics
        progress?.finish(sent: metrics.bytesSent, of: bodyLength, received: metrics.bytesReceived)
        return TransportResponse(head: head.response, body: bodyWriter.body, metrics: metrics)
    }

    /// The number of bytes that the connection sent or will send without an acknowledgment. Over HTTP/2, it includes
    /// bytes of other requests.
    var unacknowledgedByteCount: Int64 {
        var count: Int32 = 0
        guard descriptor >= 0, ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
        return Int64(count)
    }

    /// The length of the request's body; `nil` while it is unknown.
    var bodyLength: Int64? {
        if let data = current?.call.data { return Int64(data.count) }
        return upload?.length ?? upload?.countedLength
    }
}

// MARK: - libcurl's callbacks

extension CurlTransfer {
    /// Receives a line of the head; returns `false` to end the exchange.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        lastActivity = clock.now
        if let host, !host.hasResponded {
            host.hasResponded = true
            queue.noteFound(host)
        }
        let isTrailer = head.isComplete
        // The line was rejected before libcurl read it.
        if failure != nil { return false }
        watchFirstField(head.isStatusLineNext)
        do throws(TransportFailure) {
            try head.receive(line)
        } catch {
            failure = error
            return false
        }
        if !head.isComplete { readToStreamEnd() }
        if let call = current?.call, let interim = head.takeInterim(),
            let error = call.interimResponse?(interim, call.url)
        {
            failure = error
            return false
        }
        guard head.isComplete, !isTrailer else { return true }
        if head.framing.isAmbiguous { forbidReuse() }
        // Part of an encoded body can't be decoded, so it is returned as received (RFC 9110 §14.2).
        if head.statusCode != 206 {
            decoder = CurlBodyDecoder(head.framing.codings, expansionLimit: current?.call.expansionLimit)
        }
        if let host, options.canShare { queue.note(isHTTP2: head.httpVersion == "HTTP/2", of: host) }
        noteEarlyResponse()
        deliverHead()
        // libcurl would retry the request with this field indefinitely.
        if head.statusCode == 417, current?.call.hasField("Expect") == true { options.endsAtHead = true }
        return !options.endsAtHead
    }

    /// Returns the response to the caller if the body is streamed.
    private func deliverHead() {
        guard case .stream(let channel) = bodyWriter, !isHeadDelivered, let pending = current else { return }
        isHeadDelivered = true
        let body = ResponseBody(from: channel, canDrain: true) { [commandQueue, call = pending.call] in
            commandQueue.post(.resume(call))
        } cancel: { [commandQueue, call = pending.call] in
            commandQueue.cancel(call)
        }
        pending.continuation.resume(returning: TransportResponse(head: head.response, body: .stream(body)))
    }

    /// Receives bytes of the body, and returns the result of libcurl's write callback.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastActivity = clock.now
        if isResponseEarly { clock.setAlarm(lastActivity) }
        do throws(TransportFailure) {
            let isTaken = try write(bytes)
            if case .stream(let channel) = bodyWriter { arrivals.note(channel) }
            if isTaken { return bytes.count }
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        } catch {
            failure = error
            // Returning any number except the size of the bytes ends the exchange.
            return bytes.isEmpty ? 1 : 0
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(TransportFailure) -> Bool {
        guard let decoder else { return try bodyWriter.receive(bytes) }
        return try decoder.receive(bytes) { decoded throws(TransportFailure) in try bodyWriter.receive(decoded) }
    }

    /// Resumes a paused body.
    func resume() -> CURLcode {
        lastActivity = clock.now
        isPaused = false
        return CurlLibrary.withBrokenPipesBlocked { curl_easy_pause(easy, Int32(CURLPAUSE_CONT)) }
    }

    /// Copies bytes of the request's body, and returns the result of libcurl's read callback.
    func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do {
            guard let upload else { return 0 }
            guard let count = try upload.read(into: buffer) else { return Int(CURL_READFUNC_PAUSE) }
            lastActivity = clock.now
            return count
        } catch {
            failure = error
            return Int(CURL_READFUNC_ABORT)
        }
    }
}
#endif

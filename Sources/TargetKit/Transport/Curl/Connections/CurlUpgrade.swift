// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A connection that is upgraded or being upgraded. It is used only on the loop's thread.
final class CurlUpgrade {
    private enum Phase {
        /// libcurl opens the connection.
        case connecting
        /// The request is written, and its response is awaited.
        case requesting(CurlHandshake)
        /// The connection belongs to its channel.
        case open
    }

    /// The maximum number of bytes that are passed to libcurl at a time.
    private static let writeSize = 256 << 10

    let transfer: CurlTransfer
    let group: CurlConnectionGroup
    let channel: CurlChannel
    let call: CurlCall
    private let sockets: CurlSockets
    /// The deadline of the handshake, by the ``CurlClock``; `nil`: the idle timeout applies.
    private let deadline: UInt64?
    private var phase = Phase.connecting
    private var isOpening = true
    /// The socket, once it is open.
    private(set) var descriptor: Int32 = -1
    /// The bytes that are being written. TLS requires the same memory until it has accepted them.
    private var sending: [UInt8] = []
    private var sentCount = 0
    /// The number of bytes that were ever written for the channel.
    private var writtenCount: Int64 = 0
    /// Whether the server hasn't ended its side.
    private var canRead = true
    /// Whether nothing can be written any more.
    private var hasFailed = false
    /// Whether the channel has no room.
    private var isPaused = false
    /// Whether TLS may have buffered bytes, for which no event arrives: after the response, and when reading resumes.
    private var mayHaveBuffered = false

    init(_ transfer: CurlTransfer, of pending: CurlPendingCall, in group: CurlConnectionGroup, loop: CurlLoop) {
        self.transfer = transfer
        self.group = group
        call = pending.call
        deadline = pending.deadline
        sockets = loop.sockets
        channel = CurlChannel(loop.commandQueue)
    }

    deinit {
        channel.keepSocket()
    }

    /// Notes, once, that libcurl no longer opens the connection.
    func noteOpened() {
        guard isOpening else { return }
        isOpening = false
        group.noteOpened()
    }

    /// The time when the handshake times out; `nil` after the handshake.
    var due: UInt64? {
        if case .open = phase { nil } else { deadline ?? transfer.due }
    }

    /// Sends the request on the connection that libcurl opened.
    ///
    /// - Throws: A ``CurlFailure``.
    func begin(after result: CURLcode) throws(CurlFailure) {
        guard result == CURLE_OK else { throw transfer.curlFailure(result) }
        descriptor = ccurl_active_socket(transfer.easy)
        guard descriptor >= 0 else { throw transfer.curlFailure(CURLE_COULDNT_CONNECT) }
        sending = try CurlUpgradeRequest.head(of: call)
        let bodyLimit = if case .connection(let limit, _) = call.destination { limit } else { 0 }
        phase = .requesting(
            CurlHandshake(
                hasBody: call.method != "HEAD",
                bodyLimit: bodyLimit,
                headLimit: transfer.settings.configuration.maxHeadSize
            )
        )
        transfer.lastActivity = transfer.clock.now
        try flush()
        watch()
    }

    /// Receives bytes of the response, or notes the end of the connection; returns the response when it is complete.
    private func receiveResponse(_ bytes: UnsafeRawBufferPointer) throws(CurlFailure) -> TransportResponse? {
        guard case .requesting(var handshake) = phase else { return nil }
        transfer.lastActivity = transfer.clock.now
        let outcome = bytes.isEmpty ? try handshake.finish() : try handshake.receive(bytes)
        phase = .requesting(handshake)
        switch outcome {
        case nil: return nil
        case .refused(let head, let data):
            return TransportResponse(head: head, body: .data(data), metrics: transfer.metrics)
        case .switched(let head, let rest):
            phase = .open
            // The rest of the request isn't the channel's.
            writtenCount = -Int64(sending.count - sentCount)
            mayHaveBuffered = true
            channel.requestWork()
            rest.withUnsafeBytes { isPaused = !channel.receive($0) }
            if sentCount == sending.count, transfer.isSocketPlain { channel.shareSocket(descriptor) }
            let connection = CurlByteConnection(channel)
            return TransportResponse(
                head: head,
                body: .connection(.bytes(connection)),
                metrics: transfer.metrics
            )
        }
    }
}

// MARK: - Reading and writing

extension CurlUpgrade {
    /// The result of an event.
    enum Step {
        /// The connection continues.
        case waiting
        /// The response to the request is complete; the connection continues if it is the response's body.
        case responded(TransportResponse)
        /// The connection has to be removed.
        case ended
    }

    /// Reads and writes what is possible.
    ///
    /// - Throws: A ``CurlFailure``.
    func act(flags: Int32, buffer: UnsafeMutableRawBufferPointer) throws(CurlFailure) -> Step {
        if sentCount < sending.count, let failure = flushFailure() { return try readRest(after: failure, into: buffer) }
        var step = Step.waiting
        if flags & CURL_CSELECT_IN != 0 { step = try read(into: buffer) }
        watch()
        return step
    }

    /// Performs the work that the tasks requested.
    func work(buffer: UnsafeMutableRawBufferPointer) throws(CurlFailure) -> Step {
        let work = channel.takeWork()
        if let failure = flushFailure() { return try readRest(after: failure, into: buffer) }
        if work.isClosing { return .ended }
        if isPaused, work.resumes {
            isPaused = false
            mayHaveBuffered = true
        }
        if mayHaveBuffered, !isPaused {
            mayHaveBuffered = false
            let step = try read(into: buffer)
            watch()
            return step
        }
        watch()
        return .waiting
    }

    private func flushFailure() -> CurlFailure? {
        do throws(CurlFailure) {
            try flush()
            return nil
        } catch {
            return error
        }
    }

    /// Reads the bytes that the server sent before the connection failed, for example a close frame with the reason, as
    /// far as there is room. The system returns them although nothing more can be written.
    private func readRest(
        after failure: CurlFailure,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(CurlFailure) -> Step {
        hasFailed = true
        if case .responded(let response) = try read(into: buffer) { return .responded(response) }
        throw failure
    }

    /// Reads until nothing is there, or the channel has no room and no reader.
    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(CurlFailure) -> Step {
        while true {
            let step: Step
            do throws(CurlFailure) {
                step = try receive(into: buffer)
            } catch {
                _ = channel.flush()
                throw error
            }
            guard channel.flush(), isPaused else { return step }
            isPaused = false
        }
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(CurlFailure) -> Step {
        while canRead, !isPaused {
            var count = 0
            let result = CurlLibrary.withBrokenPipesBlocked {
                curl_easy_recv(transfer.easy, buffer.baseAddress, buffer.count, &count)
            }
            if result == CURLE_AGAIN { return .waiting }
            guard result == CURLE_OK else { throw failure(result) }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if count == 0 { canRead = false }
            if case .open = phase {
                if !bytes.isEmpty {
                    isPaused = !channel.receive(bytes)
                } else if !hasFailed {
                    channel.endReading(.success(()))
                }
            } else if let response = try receiveResponse(bytes) {
                return .responded(response)
            }
        }
        return .waiting
    }

    /// Writes queued bytes as far as the system accepts them.
    private func flush() throws(CurlFailure) {
        while true {
            if sentCount == sending.count {
                if case .open = phase { takeOutgoing() } else { return }
                if sending.isEmpty { return }
            }
            var count = 0
            let result = sending.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sentCount...].prefix(Self.writeSize))
                return CurlLibrary.withBrokenPipesBlocked {
                    curl_easy_send(transfer.easy, rest.baseAddress, rest.count, &count)
                }
            }
            if result == CURLE_AGAIN { return }
            guard result == CURLE_OK else { throw failure(result) }
            sentCount += count
            guard case .open = phase else { continue }
            writtenCount += Int64(count)
            channel.didWrite(upTo: writtenCount)
        }
    }

    private func takeOutgoing() {
        // Frees a large buffer while the connection is idle.
        sending.removeAll(keepingCapacity: sending.capacity <= 4096)
        sentCount = 0
        channel.takeOutgoing(&sending)
    }

    /// Waits for the events that are of use.
    private func watch() {
        let reads = canRead && !isPaused
        let writes = sentCount < sending.count
        sockets.setInterest(
            reads ? writes ? CURL_POLL_INOUT : CURL_POLL_IN : writes ? CURL_POLL_OUT : CURL_POLL_REMOVE,
            of: descriptor
        )
    }

    private func failure(_ result: CURLcode) -> CurlFailure {
        if case .open = phase {
            var failure = CurlFailure.connectionLost
            failure.curlCode = result
            failure.curlMessage = String(cString: curl_easy_strerror(result))
            return failure
        }
        return transfer.curlFailure(result)
    }
}

extension CurlFailure {
    fileprivate static let connectionLost = Self(.networkConnectionLost, message: "the connection was lost")
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A connection that is upgraded or being upgraded. It is used only on the loop's thread.
final class CurlUpgrade {
    /// The maximum number of bytes that are passed to libcurl at a time.
    private static let writeSize = 256 << 10

    let transfer: CurlTransfer
    let group: CurlConnectionGroup
    let channel: CurlChannel
    let call: CurlCall
    /// The host of the call among the connections that are being opened.
    let host: CurlConnectionQueue.Host
    private let sockets: CurlSockets
    private var isOpening = true
    /// Whether the caller has the connection, and performs the handshake.
    private(set) var isConnected = false
    /// The socket, once it is open.
    private(set) var descriptor: Int32 = -1
    /// The bytes that are being written. TLS requires the same memory until it has accepted them.
    private var sending: [UInt8] = []
    private var sentCount = 0
    /// The number of bytes that were ever written for the channel; negative for the rest of the request.
    private var writtenCount: Int64 = 0
    private var hasReceived = false
    /// Whether the server hasn't ended its side.
    private var canRead = true
    /// Whether nothing can be written any more.
    private var hasFailed = false
    /// Whether the channel has no room.
    private var isPaused = false

    init(
        _ transfer: CurlTransfer,
        of pending: CurlPendingCall,
        at host: CurlConnectionQueue.Host,
        in group: CurlConnectionGroup,
        loop: CurlLoop
    ) {
        self.transfer = transfer
        self.host = host
        self.group = group
        call = pending.call
        sockets = loop.sockets
        channel = CurlChannel(loop.commandQueue, number: transfer.slot)
    }

    deinit {
        channel.keepSocket()
    }

    /// Notes, once, that libcurl no longer opens the connection.
    func noteOpened() {
        guard isOpening else { return }
        isOpening = false
        group.openingCount -= 1
    }

    /// Whether the connection is being opened, or the handshake continues.
    var isInHandshake: Bool { transfer.current != nil }

    /// The time when the handshake times out; `nil` after the handshake.
    var due: UInt64? { isInHandshake ? transfer.due : nil }

    /// Sends the head of the request on the connection that libcurl opened, and returns the connection to the caller.
    ///
    /// - Throws: A ``TransportFailure``.
    func begin(after result: CURLcode) throws(TransportFailure) {
        guard result == CURLE_OK else { throw transfer.curlFailure(result) }
        descriptor = ccurl_active_socket(transfer.easy)
        guard descriptor >= 0 else { throw transfer.curlFailure(CURLE_COULDNT_CONNECT) }
        sending = try call.upgradeHead()
        writtenCount = -Int64(sending.count)
        transfer.lastActivity = transfer.clock.now
        try flush()
        watch()
        isConnected = true
        let connection = CurlByteConnection(channel)
        let head = ResponseHead(statusCode: 101)
        transfer.current?.continuation
            .resume(returning: TransportResponse(head: head, body: .upgraded(connection), metrics: transfer.metrics))
    }
}

// MARK: - Reading and writing

extension CurlUpgrade {
    /// Reads and writes what is possible.
    ///
    /// - Throws: A ``TransportFailure``.
    func act(flags: Int32, buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
        if sentCount < sending.count { try write(orReadInto: buffer) }
        if flags & CURL_CSELECT_IN != 0 { try read(into: buffer) }
        watch()
    }

    /// Performs the work that the tasks requested.
    ///
    /// - Throws: A ``TransportFailure``, also after the connection was closed.
    func work(buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
        let work = channel.takeWork()
        try write(orReadInto: buffer)
        if work.isClosing { throw .closed }
        if isPaused, work.resumes {
            isPaused = false
            // TLS may have buffered bytes, for which no event arrives.
            try read(into: buffer)
        }
        watch()
    }

    /// Writes what is possible. After a failure, reads the bytes that the server sent before, for example a close frame
    /// with the reason, as far as there is room. The system returns them although nothing more can be written.
    private func write(orReadInto buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
        do throws(TransportFailure) {
            try flush()
        } catch {
            hasFailed = true
            try read(into: buffer)
            throw error
        }
    }

    /// Reads until nothing is there, or the channel has no room and no reader.
    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
        while true {
            do throws(TransportFailure) {
                try receive(into: buffer)
            } catch {
                _ = channel.flush()
                throw error
            }
            guard channel.flush(), isPaused else { return }
            isPaused = false
        }
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
        while canRead, !isPaused {
            var count = 0
            let result = CurlLibrary.withBrokenPipesBlocked {
                curl_easy_recv(transfer.easy, buffer.baseAddress, buffer.count, &count)
            }
            if result == CURLE_AGAIN { return }
            guard result == CURLE_OK else { throw failure(result) }
            if count > 0 {
                hasReceived = true
                transfer.lastActivity = transfer.clock.now
                isPaused = !channel.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else {
                canRead = false
                // The body of a rejection can extend to the end.
                if !hasFailed || isInHandshake { channel.endReading(.success(())) }
            }
        }
    }

    /// Writes queued bytes as far as the system accepts them.
    private func flush() throws(TransportFailure) {
        while true {
            if sentCount == sending.count {
                takeOutgoing()
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
            writtenCount += Int64(count)
            // The tasks' bytes follow the request.
            if writtenCount == 0, transfer.isSocketPlain { channel.shareSocket(descriptor) }
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

    private func failure(_ result: CURLcode) -> TransportFailure {
        guard isInHandshake, !hasReceived else {
            var failure = TransportFailure(.networkConnectionLost, message: "the connection was lost")
            failure.note(result, String(cString: curl_easy_strerror(result)))
            return failure
        }
        return transfer.curlFailure(result)
    }
}

extension TransportFailure {
    static let closed = Self(.cancelled, message: "the connection was closed")
}

extension CurlCall {
    /// The head of an upgrade request over HTTP/1.1 (RFC 9112 §3).
    ///
    /// - Throws: An error if the request has a body, or a field contains a line break.
    func upgradeHead() throws(TransportFailure) -> [UInt8] {
        guard !hasBody else {
            throw TransportFailure(.badURL, message: "a request for another protocol can't have a body")
        }
        var text = "\(method) \(address.target) HTTP/1.1\r\n"
        if !hasField("Host") { text += "Host: \(address.authority)\r\n" }
        for field in fields {
            let (name, value) = try field.checked()
            text += "\(name): \(value)\r\n"
        }
        if !hasField("User-Agent") { text += "User-Agent: \(CurlLibrary.userAgent)\r\n" }
        return FieldOctets.octets(text + "\r\n")
    }
}

extension CurlAddress {
    /// The path and query (RFC 9112 §3.2.1).
    fileprivate var target: String {
        let rest = text.utf8.dropFirst(origin.utf8.count).prefix { $0 != UInt8(ascii: "#") }
        let path = String(rest) ?? ""
        return path.hasPrefix("/") ? path : "/" + path
    }

    /// The host, and the port unless it is the scheme's default (RFC 9110 §7.2).
    fileprivate var authority: String {
        let authority = origin.dropFirst(isSecure ? "https://".count : "http://".count)
        let port = isSecure ? ":443" : ":80"
        return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : String(authority)
    }
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The connection of a request, by its addresses; equal only for requests that share the connection.
typealias CurlConnection = String

/// An HTTP/2 stream that carries a request.
struct CurlStream {
    let connection: CurlConnection
    let id: UInt32
    /// Whether the server announced that it won't process the stream.
    var isRefused = false
}

/// What libcurl's log says about the end of the connection of an exchange.
struct CurlConnectionEnd {
    /// Whether the server announced the end with GOAWAY.
    var isAnnounced = false
    private var isClosed = false
    /// Whether libcurl kept the connection, or closed it to make room for another one.
    private var isKept = false

    /// Whether libcurl closed the connection because of an error.
    var isByError: Bool { isClosed && !isKept && !isAnnounced }

    fileprivate mutating func note(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: "Closing connection") { isClosed = true }
        if line.starts(with: "Connection #") || line.starts(with: "Connection cache is full") { isKept = true }
    }
}

/// A GOAWAY frame, after which the server doesn't process the streams above the last one (RFC 9113 §6.8).
struct CurlGoAway {
    let connection: CurlConnection
    let lastStream: UInt32
}

/// The GOAWAY frames that arrived since the loop last took them.
final class CurlGoAways {
    @exclusivity(unchecked) private var frames: [CurlGoAway] = []

    func append(_ frame: CurlGoAway) {
        frames.append(frame)
    }

    func take() -> [CurlGoAway] {
        defer { if !frames.isEmpty { frames = [] } }
        return frames
    }
}

/// Determines which requests the server didn't process, so that they may be retried regardless of their method (RFC
/// 9113 §8.7).
///
/// libcurl's result codes aren't sufficient. Version 7.88 ends a refused stream with any of six codes, including
/// success, and some of them also end processed streams. Its log has each request's stream and the last stream of a
/// GOAWAY frame, and says whether a connection is closed. Reading it takes about 4 % of an exchange over HTTP/2.
extension CurlTransfer {
    /// Records the connection that now carries the request.
    func noteConnection(
        _ remoteAddress: UnsafePointer<CChar>?,
        remotePort: Int32,
        localAddress: UnsafePointer<CChar>?,
        localPort: Int32
    ) {
        connection = nil
        stream = nil
        // A Unix-domain socket has no port.
        guard options.readsLog, let remoteAddress, let localAddress, localPort > 0 else { return }
        connection = "\(String(cString: remoteAddress)) \(remotePort) \(String(cString: localAddress)) \(localPort)"
    }

    func setLogCallback(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_DEBUGDATA, user)
        canReadLog =
            ccurl_setopt_debug(easy) { _, type, bytes, count, user in
                guard let transfer = user?.object(CurlTransfer.self) else { return 0 }
                if type == CURLINFO_HEADER_IN {
                    transfer.rejectLeadingFold(UnsafeMutableRawBufferPointer(start: bytes, count: count))
                } else if type == CURLINFO_TEXT, transfer.options.readsLog {
                    transfer.readLog(UnsafeRawBufferPointer(start: bytes, count: count))
                }
                return 0
            } == CURLE_OK
    }

    /// Reads libcurl's log if the call can use HTTP/2.
    func prepareLog() {
        options.readsLog = canReadLog && CurlLibrary.reportsGoAway && options.canShare
        set(CURLOPT_VERBOSE, value: options.readsLog ? 1 : 0)
    }

    /// Lets libcurl log the line after a status line before it reads the line, or stops logging after that.
    func watchFirstField(_ isNext: Bool) {
        guard isNext != isFirstFieldNext, CurlLibrary.foldsIntoFreedField, canReadLog else { return }
        isFirstFieldNext = isNext
        if !options.readsLog { set(CURLOPT_VERBOSE, value: isNext ? 1 : 0) }
    }

    /// Ends the exchange if the line after the status line begins with a space, which makes it the rest of no field (RFC
    /// 9112 §2.2).
    ///
    /// libcurl reads the line after this function, and would write it to freed memory. It isn't told to end here, so the
    /// line gets an empty name instead.
    private func rejectLeadingFold(_ line: UnsafeMutableRawBufferPointer) {
        guard isFirstFieldNext, let first = line.first, first.isSpaceOrTab else { return }
        line[0] = UInt8(ascii: ":")
        failure = TransportFailure.leadingFold
    }

    /// Reads a line of the log. Only libcurl's own text begins a line.
    private func readLog(_ line: UnsafeRawBufferPointer) {
        switch line.first {
        // The second format is that since libcurl 8.4.
        case UInt8(ascii: "U"), UInt8(ascii: "["):
            guard stream == nil, let connection,
                let id = line.number(after: "Using Stream ID: ") ?? line.number(after: "[HTTP/2] [")
            else { return }
            stream = CurlStream(connection: connection, id: id)
            // Until here, libcurl may have closed other connections.
            connectionEnd = CurlConnectionEnd()
        // Versions 7.88 and 8.0 use the first spelling. libcurl logs the frame for the transfer that reads it.
        case UInt8(ascii: "r") where line.starts(with: "recveived GOAWAY") || line.starts(with: "received GOAWAY"):
            connectionEnd.isAnnounced = true
            guard let stream, let last = line.number(after: "last_stream=") else { return }
            goAways.append(CurlGoAway(connection: stream.connection, lastStream: last))
        case UInt8(ascii: "C"), UInt8(ascii: "D"):
            // From here on, the lines can be about other connections.
            if line.starts(with: "Connection died, retrying") || line.starts(with: "Downgrades") { stream = nil }
            connectionEnd.note(line)
        default: break
        }
    }

    /// Records a GOAWAY frame, which can affect the transfer's stream.
    func note(_ goAway: CurlGoAway) {
        guard let stream, stream.connection == goAway.connection else { return }
        connectionEnd.isAnnounced = true
        if stream.id > goAway.lastStream { self.stream?.isRefused = true }
    }

    /// Whether libcurl closed the HTTP/2 connection without a GOAWAY from the server when it ended a response whose
    /// length is unknown. The server then sent an invalid frame or field block, for which libcurl 7.88 reports success
    /// (RFC 9113 §4.2, §4.3).
    var isBodyCutOff: Bool {
        guard head.httpVersion == "HTTP/2", head.framing.length == nil, current?.call.method != "HEAD",
            head.statusCode != 204, head.statusCode != 304, !options.forbidsReuse
        else { return false }
        return connectionEnd.isByError
    }

    /// The call, if it must be retried because the server didn't process it and libcurl doesn't retry it; otherwise
    /// `nil`.
    func refused(_ result: CURLcode) -> CurlPendingCall? {
        guard result != CURLE_OK || !head.isComplete, isRefused(result) else { return nil }
        mustBeDiscarded = true
        return current
    }

    /// Whether the server refused the request.
    func isRefused(_ result: CURLcode) -> Bool {
        guard !head.hasBegun, failure == nil else { return false }
        if stream?.isRefused == true { return true }
        let message = UnsafeRawBufferPointer(start: errorBuffer, count: strlen(errorBuffer))
        if result == CURLE_SEND_ERROR, message.starts(with: "Connection died, tried") {
            // libcurl retries a nonrepeatable request only if it was refused.
            return stream != nil || !options.isRepeatable && canForbidRepeating
        }
        return !CurlLibrary.reportsGoAway && result == CURLE_HTTP2 && message.isEmpty
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { count >= $0.count && self[..<$0.count].elementsEqual($0) }
    }

    /// The decimal number after the first occurrence of the text; `nil` if there is none below 2^32.
    fileprivate func number(after text: StaticString) -> UInt32? {
        let starts = 0...Swift.max(0, count - text.utf8CodeUnitCount)
        guard let start = starts.first(where: { UnsafeRawBufferPointer(rebasing: self[$0...]).starts(with: text) })
        else { return nil }
        let digits = self[(start + text.utf8CodeUnitCount)...].prefix(while: \.isDigit)
        let number = digits.prefix(11).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return digits.isEmpty ? nil : UInt32(exactly: number)
    }
}
#endif

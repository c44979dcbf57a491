// SPDX-License-Identifier: MIT
#if os(Linux)

/// Sends requests with libcurl: the default on Linux.
///
/// One thread serves all exchanges of an instance, which share its persistent connections. HTTP/2 is used where TLS
/// negotiates it, otherwise HTTP/1.1. A streamed response always uses HTTP/1.1 on its own connection, so that a slow
/// reader slows down the server. Bodies are decoded from gzip, deflate, br and zstd if the installed libcurl loaded
/// their libraries; a body with another coding is returned as received, with its `Content-Encoding`. Only http and
/// https are supported. Redirects aren't followed, cookies aren't stored, `.netrc` isn't read, and a user name or
/// password in the URL isn't sent.
///
/// Files and host names are handled on other threads, so that a slow disk or name server delays only its own call. An
/// instance looks up at most 64 names of new hosts at a time; the lookup of a call that ended counts until its own end.
/// Calls to further new hosts wait, and those to other hosts continue.
///
/// If a persistent connection closes before a response arrives, the request is sent again only if its method is
/// idempotent (RFC 9110 §9.2.2) or it has an `Idempotency-Key`. Any other POST ends with `.networkConnectionLost`,
/// because the server may have executed it. This can happen at any time if a server closes connections without sending
/// `Connection: close`. A request that an HTTP/2 server refuses with REFUSED_STREAM or GOAWAY before processing it is
/// sent again, regardless of its method (RFC 9113 §8.7). The number of retries is limited, with a higher limit while
/// the server responds to other requests. GOAWAY requires libcurl 7.88 or later.
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under
/// `NSURLErrorFailingURLErrorKey`, a sentence under `NSLocalizedDescriptionKey`, and libcurl's message and code under
/// `TargetKitCurlMessage` and `TargetKitCurlCode`.
///
/// A 2xx is returned when the whole request is sent. If a server responds earlier and doesn't read the rest, the call
/// ends with an error that states how much was sent, unless the server releases the rest over HTTP/2 (`NO_ERROR`, RFC
/// 9113 §8.1) or closes the connection after the whole response. Any other status is returned immediately, without
/// sending the rest.
///
/// If the caller sets `Expect: 100-continue`, the body waits for the 100 response for at most one second. A 417 is
/// returned without its body, because libcurl would retry the request indefinitely.
///
/// A range request accepts only the `identity` encoding, and a 206 isn't decoded, because part of a compressed body
/// can't be decoded.
///
/// A compressed body that ends before its coding ends the call with `.cannotDecodeContentData`, and one that continues
/// after it with `.cannotDecodeRawData`. Several gzip members are one body (RFC 1952 §2.2), and zeros after the last one
/// are padding.
///
/// Over HTTP/2, libcurl 7.88 can report success for an incomplete body that has neither a coding nor a
/// `Content-Length`. If the server ends it with an invalid frame or field block, `CurlTransport` detects it by the
/// closed connection, except while other exchanges use the connection. If the server ends it by RST_STREAM with
/// `NO_ERROR`, nothing distinguishes it from a complete body.
///
/// Over HTTP/2, libcurl 7.88 (Debian 12) has the following limits. `allowsHTTP2: false` avoids them.
/// - If the server resets a response after sending it, while the request's body waits for its window and other
///   exchanges share the connection, the response is lost and the call ends with `.networkConnectionLost`.
/// - A response head over 128 KiB ends the connection and the other exchanges on it.
/// - A request with more than 48 KiB of URL and header fields is sent over HTTP/1.1.
/// - A connection doesn't resume the TLS session of a closed connection (libcurl 7.88 to 8.3).
///
/// The first exchange starts the thread, so that an instance without one, for example of a stubbed provider, uses no
/// thread and no file descriptor. A released instance finishes its exchanges, then ends its thread and closes its
/// connections.
public final class CurlTransport: Transport {
    /// The default transport on Linux.
    public static let shared = CurlTransport()

    /// The key of libcurl's message, a `String`, in the `userInfo` of an error.
    static let messageKey = "TargetKitCurlMessage"
    /// The key of libcurl's result code, an `Int` (`CURLcode`), in the `userInfo` of an error.
    static let codeKey = "TargetKitCurlCode"

    private let commandQueue = CurlCommandQueue()
    private let configuration: Configuration

    /// Creates a transport with its own thread and connections. The first call starts the thread.
    init(configuration: Configuration) {
        self.configuration = configuration
    }

    private func startLoop() {
        let thread = Thread { [commandQueue, configuration] in
            // libcurl is only used on this thread; only the command queue is shared.
            let loop = CurlLoop(commandQueue: commandQueue, configuration: configuration)
            loop?.run()
            // If libcurl couldn't be set up, the next call tries again.
            commandQueue.end(loop == nil ? .unused : .ended).forEach { $0.fail(with: TransportFailure.unavailable) }
        }
        thread.name = "TargetKit.curl"
        thread.start()
    }

    deinit {
        commandQueue.close(.draining)
    }

    /// `true`.
    public var reportsInterimResponses: Bool { true }

    /// `true`.
    public var upgradesConnections: Bool { true }

    /// Performs one exchange.
    ///
    /// - Throws: A `URLError`; `.cancelled` if the task is cancelled or the transport is shut down.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = configuration.lookup == nil ? try CurlCall(request) : try await lookedUp(request)
        if Task.isCancelled { throw TransportFailure.cancelled.error(for: call.url) }
        return try await withTaskCancellationHandler {
            try await response(to: call, request)
        } onCancel: {
            commandQueue.cancel(call)
        }
    }

    /// Creates the call after the lookup of its host, whose time is subtracted from the request's timeout.
    private func lookedUp(_ request: TransportRequest) async throws -> CurlCall {
        guard let lookup = configuration.lookup, let url = request.urlRequest.url else { return try CurlCall(request) }
        let start = ContinuousClock.now
        do {
            let limit = request.timeout ?? configuration.connectTimeout
            let entries = try await lookup.entries(for: url, within: limit)
            var request = request
            request.timeout = request.timeout.map { max(.milliseconds(1), $0 - start.duration(to: .now)) }
            return try CurlCall(request, hostEntries: entries)
        } catch let failure as TransportFailure {
            throw failure.error(for: url)
        }
    }

    private func response(to call: CurlCall, _ request: TransportRequest) async throws -> TransportResponse {
        do {
            // A checked continuation needs an allocation and a lock for each call. The command queue guarantees that an
            // accepted call is resumed once, by the loop or by `end()`.
            let response = try await withUnsafeThrowingContinuation { continuation in
                if commandQueue.start(CurlPendingCall(call: call, continuation: continuation)) { startLoop() }
            }
            guard case .upgrade(let upgrade) = call.destination else { return response }
            return try await self.response(by: upgrade, to: request.urlRequest, opened: response)
        } catch let failure as TransportFailure {
            // Created here, because the loop's thread serves all calls.
            throw failure.error(for: call.url)
        }
    }

    /// Performs the handshake over an opened connection.
    private func response(
        by upgrade: any ConnectionUpgrade,
        to request: URLRequest,
        opened: TransportResponse
    ) async throws -> TransportResponse {
        guard case .upgraded(let connection as CurlByteConnection) = opened.body else { return opened }
        do {
            let headLimit = configuration.maxHeadSize
            var response = try await upgrade.response(to: request, over: connection, headLimit: headLimit)
            try connection.channel.endHandshake()
            response.metrics = opened.metrics
            return response
        } catch is CancellationError {
            throw TransportFailure.cancelled
        }
    }

    /// Cancels all exchanges, closes the connections and ends the thread, without waiting.
    ///
    /// Running exchanges and every later ``send(_:)`` end with `URLError(.cancelled)`.
    public func shutdown() {
        commandQueue.close(.closing)
    }
}
#endif

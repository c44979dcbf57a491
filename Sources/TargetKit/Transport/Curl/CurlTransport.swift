// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with libcurl: the default on Linux.
///
/// One thread serves all exchanges of an instance, which share its kept-alive connections. It uses HTTP/2 where TLS
/// negotiates it, and HTTP/1.1 otherwise. A streamed response always uses HTTP/1.1 on a connection of its own, so that
/// a slow reader slows down the server. Bodies are decoded from gzip, deflate, br and zstd, as far as the installed
/// libcurl has loaded their libraries; a body with another coding is returned as received, with its `Content-Encoding`.
/// Redirects are not followed, cookies are not kept, `.netrc` is not read, and only http and https are supported; a
/// user name or password in the URL is not sent.
///
/// Files are read and written, and host names looked up, off that thread, so that a slow disk or name server delays
/// only its own call. libcurl before 7.87 waits for the lookup of a cancelled call, which delays all calls.
///
/// A request whose kept-alive connection closes before a response arrives is sent again only if its method is
/// idempotent (RFC 9110 §9.2.2) or it has an `Idempotency-Key`; another POST ends with `.networkConnectionLost`,
/// because the server may have executed it. With a server that closes each connection after a response without sending
/// `Connection: close`, this can happen at any time. A request that an HTTP/2 server refuses with REFUSED_STREAM or
/// GOAWAY before processing it is sent again, whatever its method (RFC 9113 §8.7): a limited number of times, which is
/// larger while the server responds to others. A GOAWAY can only be evaluated with libcurl 7.88 or later.
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under
/// `NSURLErrorFailingURLErrorKey`, a sentence under `NSLocalizedDescriptionKey`, and libcurl's message and code under
/// `TargetKitCurlMessage` and `TargetKitCurlCode`.
///
/// A 2xx is returned when the whole request has been sent. If a server responds earlier and does not read the rest, the
/// call ends with an error that states how much was sent, unless the server releases the rest over HTTP/2 (`NO_ERROR`,
/// RFC 9113 §8.1) or closes the connection after the whole response. Any other status is returned at once, without
/// sending the rest.
///
/// `Expect: 100-continue` is sent if the caller sets it: the body then waits for the 100 response, at most one second.
/// A 417 is returned without its body, because libcurl would repeat the request indefinitely.
///
/// A range request asks for the `identity` encoding, and a 206 is not decoded: part of a compressed body cannot be
/// decoded.
///
/// A compressed body that ends before its coding, or that continues after it, ends the call with
/// `.cannotDecodeContentData`. Several gzip members are one body (RFC 1952 §2.2). libcurl cannot detect one kind of
/// incomplete response: over HTTP/2, an uncompressed body without `Content-Length` that the server ends with `NO_ERROR`
/// or with an invalid frame.
///
/// Over HTTP/2, libcurl 7.88 (Debian 12) has these limits, which `allowsHTTP2: false` avoids:
/// - A response that the server sends and then resets is lost if the request's body waits for its window and other
///   exchanges share the connection: the call ends with `.networkConnectionLost`.
/// - A response head over 128 KiB ends the connection and the other exchanges on it.
/// - A request with more than 48 KiB of URL and header fields is sent over HTTP/1.1.
/// - A connection does not resume the TLS session of one that has closed (libcurl 7.88 to 8.3).
///
/// A released instance finishes the exchanges that it has started, then ends its thread and closes its connections.
public final class CurlTransport: Transport {
    /// The default transport on Linux.
    public static let shared = CurlTransport()

    /// The key of libcurl's message, a `String`, in the `userInfo` of an error.
    package static let messageKey = "TargetKitCurlMessage"
    /// The key of libcurl's result code, an `Int` (`CURLcode`), in the `userInfo` of an error.
    package static let codeKey = "TargetKitCurlCode"

    private let commandQueue = CurlCommandQueue()

    /// Creates a transport with its own thread and connections.
    package init(configuration: Configuration) {
        let commandQueue = commandQueue
        let thread = Thread {
            // libcurl is only used on this thread; only the command queue is shared.
            if let loop = CurlLoop(commandQueue: commandQueue, configuration: configuration) { loop.run() }
            commandQueue.end().forEach { $0.fail(with: CurlFailure.unavailable) }
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
    /// - Throws: A `URLError`; `.cancelled` when the task is cancelled or the transport is shut down.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = try CurlCall(request)
        if Task.isCancelled { throw CurlFailure.cancelled.error(for: call.url) }
        return try await withTaskCancellationHandler {
            try await response(to: call)
        } onCancel: {
            commandQueue.cancel(call)
        }
    }

    private func response(to call: CurlCall) async throws -> TransportResponse {
        // A checked continuation costs an allocation and a lock for each call. The command queue guarantees that an
        // accepted call is resumed once, by the loop or by `end()`.
        try await withUnsafeThrowingContinuation { continuation in
            commandQueue.start(CurlPendingCall(call: call, continuation: continuation))
        }
    }

    /// Cancels all exchanges, closes the connections and ends the thread, without waiting.
    ///
    /// Running exchanges and every later ``send(_:)`` end with `URLError(.cancelled)`.
    public func shutdown() {
        commandQueue.close(.closing)
    }
}

extension CurlTransport {
    /// Performs one exchange, which ends when the handle is cancelled.
    ///
    /// - Throws: A `URLError`; `.cancelled` when the handle is cancelled or the transport is shut down.
    public func send(
        _ request: TransportRequest,
        cancelledBy handle: RequestHandle
    ) async throws -> TransportResponse {
        let call = try CurlCall(request)
        handle.onCancel { [commandQueue] in commandQueue.cancel(call) }
        return try await response(to: call)
    }
}
#endif

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
/// a slow reader slows down the server. Bodies are decoded from every encoding that the installed libcurl supports.
/// Redirects are not followed, cookies are not kept, `.netrc` is not read, and only http and https are supported; a
/// user name or password in the URL is not sent.
///
/// Files are read and written, and host names looked up, off that thread, so that a slow disk or name server delays
/// only its own call. libcurl before 7.87 waits for the lookup of a cancelled call, which delays all calls.
///
/// A request whose kept-alive connection closes before a response arrives is sent again only if its method is
/// idempotent (RFC 9110 §9.2.2); a POST ends with `.networkConnectionLost`, because the server may have executed it.
/// Beside a server that closes each connection after a response without sending `Connection: close`, this can happen at
/// any time. Any request that an HTTP/2 server refuses
/// by REFUSED_STREAM or GOAWAY before processing it is sent again (RFC 9113 §8.7).
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under
/// `NSURLErrorFailingURLErrorKey`, a sentence under `NSLocalizedDescriptionKey`, and libcurl's message and code under
/// ``messageKey`` and ``codeKey``.
///
/// A 2xx is returned when the whole request has been sent. If a server responds earlier and does not read the rest, the
/// call ends with an error that states how much was sent, unless the server releases the rest over HTTP/2 (`NO_ERROR`,
/// RFC 9113 §8.1). Any other status is returned at once, without sending the rest.
///
/// `Expect: 100-continue` is sent if the caller sets it: the body then waits for the 100 response, at most one second.
/// A 417 is returned without its body, because libcurl would repeat the request indefinitely.
///
/// A range request asks for the `identity` encoding, and a 206 is not decoded: part of a compressed body cannot be
/// decoded.
///
/// libcurl cannot detect two kinds of incomplete response: a compressed body that ends early in an otherwise complete
/// exchange, of which the decodable part is returned; and, over HTTP/2, a body without `Content-Length` that the server
/// ends with `NO_ERROR` or with an invalid frame. Bytes after the end of a compressed body, including a second gzip
/// member, end the call with `.cannotDecodeContentData`.
///
/// Over HTTP/2, libcurl 7.88 (Debian 12) has these limits, which ``Configuration/version`` `.http1` avoids:
/// - A response that the server sends and then resets is lost if the request's body waits for its window and other
///   exchanges share the connection: the call ends with `.networkConnectionLost`.
/// - A response head over 128 KiB ends the connection and the other exchanges on it.
/// - A request with more than 48 KiB of URL and header fields is sent over HTTP/1.1.
///
/// A released instance finishes the exchanges that it has started, then ends its thread and closes its connections.
public final class CurlTransport: Transport {
    /// The transport that serves everybody who did not make one.
    public static let shared = CurlTransport()

    /// Where the `userInfo` of an error has libcurl's own words, a `String`.
    public static let messageKey = "TargetKitCurlMessage"
    /// Where the `userInfo` of an error has libcurl's number, an `Int` (`CURLcode`).
    public static let codeKey = "TargetKitCurlCode"

    private let inbox = CurlInbox()

    /// A transport with its own thread and connections.
    public init(configuration: Configuration = Configuration()) {
        let inbox = inbox
        let thread = Thread {
            CurlLibrary.blockBrokenPipes()
            // Everything of libcurl lives and dies on this thread; only the inbox is shared.
            if let loop = CurlLoop(inbox: inbox, configuration: configuration) { loop.run() }
            inbox.end().forEach { $0.fail(with: CurlFailure.unavailable) }
        }
        thread.name = "TargetKit.curl"
        thread.start()
    }

    deinit {
        inbox.close(.draining)
    }

    /// Performs one exchange.
    ///
    /// - Throws: a `URLError`; `.cancelled` when the task was cancelled, or the transport shut down.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = try CurlCall(request)
        if Task.isCancelled { throw CurlFailure.cancelled.error(for: call.url) }
        return try await withTaskCancellationHandler {
            try await response(to: call)
        } onCancel: {
            inbox.cancel(call)
        }
    }

    private func response(to call: CurlCall) async throws -> TransportResponse {
        // The checked kind costs an allocation and a lock for each call. What it would check is the inbox's one promise:
        // a start that it took is resumed once, by the loop or by `end()`.
        try await withUnsafeThrowingContinuation { continuation in
            inbox.start(CurlStart(call: call, continuation: continuation))
        }
    }

    /// Cancels what runs, refuses what comes, closes the connections and ends the thread; returns at once.
    ///
    /// Exchanges that run end with `URLError(.cancelled)`, and so does every later ``send(_:)``.
    public func shutdown() {
        inbox.close(.closing)
    }
}

extension CurlTransport: InterruptibleTransport {
    private struct Exchange: CancellableTask {
        let inbox: CurlInbox
        let call: CurlCall

        func cancel() { inbox.cancel(call) }
    }

    func start(_ request: TransportRequest, tiedTo handle: RequestHandle, for waiter: Waiter) {
        do {
            let call = try CurlCall(request)
            handle.attach(Exchange(inbox: inbox, call: call))
            inbox.start(CurlStart(call: call, continuation: waiter))
        } catch {
            waiter.resume(throwing: error)
        }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with libcurl: the default on Linux.
///
/// One thread serves all exchanges of an instance, which share its kept-alive connections. HTTP/1.1 is spoken, and HTTP/2
/// where TLS agrees on it, but not for a response that is streamed: it has a connection of its own over HTTP/1.1, on which a slow
/// reader makes the server wait. Bodies are decoded from every encoding that the installed libcurl knows. Redirects are not
/// followed, cookies not kept, `.netrc` not read, and only http and https are spoken; a user name or password in the URL is not
/// sent.
///
/// Files are read and written beside that thread, and names looked up beside it, so that a slow disk or name server holds up its
/// own call and no other. libcurl before 7.87 waits for the lookup of a call that is cancelled, and so do all calls.
///
/// A request whose kept-alive connection ends before an answer comes is sent again only if its method is idempotent (RFC 9110
/// §9.2.2); a POST ends with `.networkConnectionLost`. Any request is sent again that an HTTP/2 server has refused, by
/// REFUSED_STREAM or GOAWAY, before it touched it (RFC 9113 §8.7).
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under `NSURLErrorFailingURLErrorKey`, a
/// sentence under `NSLocalizedDescriptionKey`, and libcurl's own words and number under ``messageKey`` and ``codeKey``.
///
/// A 2xx is returned when the whole request has been sent. A server that answers earlier and does not read the rest ends the
/// call with an error that says how much was sent, unless it releases the rest over HTTP/2 (`NO_ERROR`, RFC 9113 §8.1). Any
/// other status is returned at once, without sending the rest.
///
/// `Expect: 100-continue` is sent where the caller sets it: the body then waits for the 100, a second at most. A 417 is returned
/// without its body, because libcurl would repeat the request without end.
///
/// A request for a range asks for `identity`, and a 206 is not decoded: a part of a compressed body cannot be.
///
/// What libcurl cannot tell apart from a whole response: a compressed body that ends too early inside an exchange that is
/// otherwise whole, which comes back as what could be decoded of it; and over HTTP/2 a body without `Content-Length` that the
/// server breaks off with `NO_ERROR` or with a frame against the rules. Bytes behind the end of a compressed body, also a second
/// member of gzip, end the call with `.cannotDecodeContentData`.
///
/// Over HTTP/2, libcurl 7.88 (Debian 12) has these limits, which ``Configuration/version`` `.http1` does not have:
/// - A response that the server gives and resets, while the request's body waits for its window and other exchanges share the
///   connection, is lost: the call ends with `.networkConnectionLost`.
/// - A response head over 128 KiB ends the connection, and with it the other exchanges on it.
/// - A request with more than 48 KiB of URL and header fields is sent over HTTP/1.1.
///
/// An instance that its owner lets go of finishes what it has started, and then ends its thread and closes its connections.
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

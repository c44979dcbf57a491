// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with Foundation's URLSession: the default on Apple's systems.
///
/// A session of its own serves all exchanges of an instance. It does not follow redirects or keep cookies, a cache or
/// credentials: TargetKit does. User name and password in a URL are not sent. Repeated header fields of a response are
/// joined by a comma, as Foundation returns them, and sorted by name. A body that is a ``BodySource`` is read to its
/// end first, into a temporary file from 1 MiB on, and then sent with its length: it can be sent again, and a slow
/// source does not block other calls.
///
/// On Apple's systems a body can be streamed. When as many bytes wait for its reader as the destination allows, the task is
/// suspended until half of them are read:
/// - Suspending asks Foundation, and does not force it: bytes that it has received, or receives for a while longer, still come
///   and are kept. So the bound on memory is softer than `CurlTransport`'s.
/// - By Foundation's documentation a suspended task is not subject to the idle timeout. The timeout of the whole exchange goes
///   on.
/// - A stream keeps its connection until its end. Over HTTP/1.1 a host gets only a few, six unless told, so many streams that
///   nobody reads hold up further calls to that host.
/// - The head is said to be HTTP/1.1, and there are no metrics: Foundation tells both at the end.
/// - Foundation may keep head and body back until the first 512 bytes are there, to see what they are, unless the response's
///   `Content-Type` leaves no doubt, `application/json` for one.
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under
/// `NSURLErrorFailingURLErrorKey` and a sentence under `NSLocalizedDescriptionKey`. A GET with a body ends with
/// `.dataLengthExceedsMaximum`, as in URLSession itself.
///
/// On Linux, where `CurlTransport` is the better choice, Foundation sets these limits:
/// - A call whose body is to be streamed ends with `.unsupportedURL`, before anything is sent: to suspend a task there is to
///   send its request again, so nothing can hold the server back for a slow reader. `Provider.stream(_:)`, lines and
///   server-sent events need `CurlTransport`, which is the default.
/// - An IPv6 address in the place of the host name ends with `.unsupportedURL`.
/// - A redirect status without `Location` but with a body ends with `.redirectToNonExistentLocation`.
/// - A response header field that is not UTF-8 ends with `.cannotParseResponse`, as does a status line without the
///   space after its code (RFC 9112 §4).
/// - If a response's field names differ only in case, the values are ordered by spelling, not by position; of several
///   spellings of `Set-Cookie` and other names that Foundation knows, only one is kept.
/// - Trailers (RFC 9110 §6.5) end the process. A request that asks for them with the `TE` field ends with
///   `.unsupportedURL`, and a response that announces them with `Trailer` ends with `.cannotParseResponse`, unless they
///   arrive together with its head. There is no protection against unannounced trailers.
/// - Foundation receives on one thread for all sessions of the process, as fast as a server sends. When about 4 MiB
///   wait to be written, to a file or to memory, that thread waits as well, up to one second for each 16 KiB: a slow
///   disk or a slow progress closure delays other sessions.
/// - A request without a body is sent with `Content-Length: 0` for every method but GET and HEAD.
/// - A host gets as many connections as `URLSessionConfiguration.httpMaximumConnectionsPerHost` says, six unless told, and
///   further calls wait for one: a call that hangs keeps one from the others.
/// - There are no metrics, and a response is always said to be HTTP/1.1.
/// - Foundation ends the process when a connection is closed within the head of a response.
public final class URLSessionTransport: Transport {
    /// The transport that serves everybody who did not make one.
    public static let shared = URLSessionTransport()

    // URLSession keeps its delegate alive until it is invalidated, so the delegate is not the transport.
    private let desk: URLSessionDesk
    private let session: URLSession
    private let idleTimeout: TimeInterval
    private let tls: TLSPolicy
    private let streaming: URLSessionStreaming
    /// Whether the configuration is for background sessions, which are not supported.
    private let isInBackground: Bool

    /// A transport with a session and connections of its own.
    ///
    /// - Parameters:
    ///   - configuration: Copied, without its cache, cookies and credential storage. Its
    ///     `timeoutIntervalForRequest`, in seconds, is the idle timeout of requests without a timeout of their own.
    ///     A background configuration is refused: every call ends with `.unsupportedURL`. Default: `.ephemeral`.
    ///   - tls: Whom to trust, and as whom to show oneself; default: the system's policy. On Linux URLSession knows no other:
    ///     every call of a transport with another one ends with `.unsupportedURL`. On Apple's systems a client certificate is a
    ///     PKCS#12 file.
    public convenience init(configuration: URLSessionConfiguration = .ephemeral, tls: TLSPolicy = .system) {
        self.init(configuration: configuration, tls: tls, streaming: .system)
    }

    /// The same, with another way to deal with slow readers than the system's.
    init(
        configuration: URLSessionConfiguration = .ephemeral,
        tls: TLSPolicy = .system,
        streaming: URLSessionStreaming
    ) {
        isInBackground = configuration.identifier != nil
        // No background session is created only to be refused, because each identifier allows only one.
        let copy = isInBackground ? nil : configuration.copy() as? URLSessionConfiguration
        let configuration = copy ?? .ephemeral
        // Linux: with a cache, a cancel that races a completion ends the process (Swift 6.3.1).
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        // The whole exchange is timed by TargetKit.
        configuration.timeoutIntervalForResource = URLSessionCall.longestTimeout
        idleTimeout = configuration.timeoutIntervalForRequest
        #if canImport(FoundationNetworking)
        let callbacks = URLSessionCallbackQueue()
        #else
        let callbacks = OperationQueue()
        callbacks.maxConcurrentOperationCount = 1
        callbacks.name = "TargetKit.URLSessionTransport"
        configuration.tlsMinimumSupportedProtocolVersion = tls.minimumVersion == .v1_3 ? .TLSv13 : .TLSv12
        #endif
        self.tls = tls
        self.streaming = streaming
        desk = URLSessionDesk(tls)
        session = URLSession(configuration: configuration, delegate: desk, delegateQueue: callbacks)
    }

    deinit {
        desk.close(session)
    }

    /// Performs one exchange; returns at the end of the head when the body is streamed.
    ///
    /// - Throws: a `URLError`, or what the request's ``BodySource`` has thrown; `.cancelled` when the task was cancelled, or
    ///   the transport shut down.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = try URLSessionCall(request, idleTimeout: idleTimeout, streaming: streaming)
        guard !isInBackground else {
            let words =
                "a background URLSessionConfiguration brings back no response to a call that waits for it; "
                + "use .default or .ephemeral, and a URLSession of your own for the background"
            throw URLSessionFailure.error(.unsupportedURL, words, for: call.url)
        }
        #if canImport(FoundationNetworking)
        guard tls == .system else {
            let words = "URLSession on Linux knows no TLS policy but the system's; CurlTransport does"
            throw URLSessionFailure.error(.unsupportedURL, words, for: call.url)
        }
        #endif
        let exchange = URLSessionExchange(call, queue: desk.queue, streaming: streaming)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if exchange.open(continuation) { desk.begin(exchange, in: session) }
            }
        } onCancel: {
            exchange.fail(.cancelled, "the call was cancelled")
        }
    }

    /// Cancels what runs, refuses what comes and closes the connections; returns at once.
    ///
    /// Exchanges that run end with `URLError(.cancelled)`, and so does every later ``send(_:)``.
    public func shutdown() {
        desk.shutDown(session)
    }
}

/// What becomes of a call whose body is to be streamed.
enum URLSessionStreaming: Sendable {
    /// An error: nothing can keep a slow reader's body from piling up in memory.
    case refused
    /// It is streamed, and what the reader has not taken piles up: for tests, where `suspend()` does not do what it says.
    case unbounded
    /// It is streamed, and its task suspended while the reader has enough to read.
    case paced

    /// On Linux `suspend()` and `resume()` send the request again (Swift 6.3.1). `FoundationTrapTests` watches it.
    static var system: Self {
        #if canImport(FoundationNetworking)
        .refused
        #else
        .paced
        #endif
    }
}

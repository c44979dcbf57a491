// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with Foundation's URLSession: the default on Apple platforms.
///
/// A session of its own serves all exchanges of an instance. It does not follow redirects or keep cookies, a cache or
/// credentials: TargetKit does. User name and password in a URL are not sent. Repeated header fields of a response are
/// joined by a comma, as Foundation returns them, and sorted by name. A body that is a ``BodySource`` is read to its
/// end first, into a temporary file from 1 MiB on, and then sent with its length: it can be sent again, and a slow
/// source does not block other calls.
///
/// On Apple platforms a body can be streamed. When as many bytes wait for its reader as the destination allows, the
/// task is suspended until half of them are read:
/// - Bytes that Foundation receives before the suspension takes effect are kept, so the limit on memory is less strict
///   than `CurlTransport`'s.
/// - A suspended task is not subject to the idle timeout, but the timeout of the whole exchange continues.
/// - A stream keeps its connection until its end. Over HTTP/1.1 a host gets only a few connections, six by default, so
///   unread streams can block further calls to that host.
/// - The head's version is always HTTP/1.1, and there are no metrics: Foundation reports both at the end.
/// - Foundation may hold the head and body back until the first 512 bytes have arrived, to detect their type, unless
///   the response's `Content-Type` is unambiguous, for example `application/json`.
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under
/// `NSURLErrorFailingURLErrorKey` and a sentence under `NSLocalizedDescriptionKey`. A GET with a body ends with
/// `.dataLengthExceedsMaximum`, as in URLSession itself.
///
/// On Linux, where `CurlTransport` is the better choice, Foundation sets these limits:
/// - `Accept-Encoding` is `identity` unless the request sets it, because the end of a compressed body is not checked:
///   one that ends early is returned as far as it can be decoded.
/// - When a kept-alive connection closes before a response arrives, a POST with a body ends with
///   `.networkConnectionLost`, as does every request that is not idempotent; the server may also receive its head
///   again, without the body. Foundation sends a request without a body again, whatever its method.
/// - Bytes that a server sends after a response can be taken for the next response on that connection.
/// - Several `Content-Length` fields that differ, and one that is not a number, are accepted. An endless response head
///   ends with the timeout.
/// - The order of the header fields changes between identical requests.
/// - A call whose response is streamed ends with `.unsupportedURL` before anything is sent: suspending a task sends its
///   request again, so a slow reader cannot slow down the server. `Provider.stream(_:)`, lines and server-sent events
///   require `CurlTransport`, which is the default.
/// - An IPv6 address as the host ends with `.unsupportedURL`.
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
/// - A host gets up to `URLSessionConfiguration.httpMaximumConnectionsPerHost` connections, six by default, and further
///   calls wait for a connection.
/// - There are no metrics, and a response's version is always HTTP/1.1.
/// - Foundation ends the process when a connection closes within the head of a response.
public final class URLSessionTransport: Transport {
    /// The default transport on Apple platforms.
    public static let shared = URLSessionTransport()

    // URLSession keeps its delegate alive until it is invalidated, so the delegate is not the transport.
    private let delegate: SessionDelegate
    private let session: URLSession
    private let idleTimeout: TimeInterval
    private let tls: TLSPolicy
    private let streaming: URLSessionStreaming
    /// Whether the configuration is for background sessions, which are not supported.
    private let isBackground: Bool

    /// Creates a transport with its own session and connections.
    ///
    /// - Parameters:
    ///   - configuration: Copied, without its cache, cookies and credential storage. Its
    ///     `timeoutIntervalForRequest`, in seconds, is the idle timeout of requests without a timeout of their own.
    ///     A background configuration is refused: every call ends with `.unsupportedURL`. Default: `.ephemeral`.
    ///   - tls: The TLS policy; default: the system's. On Linux, URLSession supports no other, and every call ends with
    ///     `.unsupportedURL` if one is set. On Apple platforms, a client certificate is a PKCS#12 file.
    public convenience init(configuration: URLSessionConfiguration = .ephemeral, tls: TLSPolicy = .system) {
        self.init(configuration: configuration, tls: tls, streaming: .system)
    }

    /// Creates a transport that handles slow readers differently than the system's default.
    init(
        configuration: URLSessionConfiguration = .ephemeral,
        tls: TLSPolicy = .system,
        streaming: URLSessionStreaming
    ) {
        isBackground = configuration.identifier != nil
        // No background session is created only to be refused, because each identifier allows only one.
        let copy = isBackground ? nil : configuration.copy() as? URLSessionConfiguration
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
        configuration.tlsMinimumSupportedProtocolVersion = tls.requiresTLS13 ? .TLSv13 : .TLSv12
        #endif
        self.tls = tls
        self.streaming = streaming
        delegate = SessionDelegate(tls)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: callbacks)
    }

    deinit {
        delegate.close(session)
    }

    /// `false` on Linux, where URLSession cannot.
    public var streamsResponses: Bool { streaming != .refused }

    /// `false` on Linux, where URLSession depends on how libcurl was built.
    public var upgradesConnections: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }

    /// Performs one exchange; returns at the end of the head when the body is streamed.
    ///
    /// - Throws: A `URLError`, or the error of the request's ``BodySource``; `.cancelled` when the task is cancelled or
    ///   the transport is shut down.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = try URLSessionCall(request, idleTimeout: idleTimeout, streaming: streaming)
        guard !isBackground else {
            let words =
                "a background URLSessionConfiguration returns no response to a call; "
                + "use .default or .ephemeral, and a URLSession of your own for the background"
            throw URLSessionFailure.error(.unsupportedURL, message: words, for: call.url)
        }
        #if canImport(FoundationNetworking)
        guard tls == .system else {
            let words = "URLSession on Linux supports only the system's TLS policy; CurlTransport supports others"
            throw URLSessionFailure.error(.unsupportedURL, message: words, for: call.url)
        }
        #else
        if case .connection = request.destination {
            return try await URLSessionWebSocket.open(call, idleTimeout: idleTimeout, in: session, with: delegate)
        }
        #endif
        let exchange = URLSessionExchange(call, queue: delegate.queue, streaming: streaming)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if exchange.open(continuation) { delegate.begin(exchange, in: session) }
            }
        } onCancel: {
            exchange.fail(.cancelled, message: "the call was cancelled")
        }
    }

    /// Cancels all exchanges and closes the connections, without waiting.
    ///
    /// Running exchanges and every later ``send(_:)`` end with `URLError(.cancelled)`.
    public func shutdown() {
        delegate.shutDown(session)
    }
}

/// How a response is streamed to a slow reader.
package enum URLSessionStreaming: Sendable {
    /// It is refused with an error, because unread bytes would accumulate in memory.
    case refused
    /// It is streamed, and unread bytes accumulate; for tests on Linux, where `suspend()` does not work.
    case unbounded
    /// It is streamed, and its task is suspended while the channel is full.
    case paced

    /// The default. On Linux, `suspend()` and `resume()` send the request again (Swift 6.3.1); watched by
    /// `FoundationTrapTests`.
    static var system: Self {
        #if canImport(FoundationNetworking)
        .refused
        #else
        .paced
        #endif
    }
}

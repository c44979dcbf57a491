// SPDX-License-Identifier: MIT

/// Sends requests with Foundation's URLSession: the default on Apple platforms.
///
/// Each instance has its own session for all exchanges. The session doesn't follow redirects or store cookies,
/// responses or credentials, because TargetKit does. The user name and password in a URL aren't sent. Repeated header
/// fields of a response are joined by a comma, as Foundation returns them, and sorted by name. A ``BodySource`` is read
/// to its end before it is sent, into a temporary file from 1 MiB on. Thus its length is known, it can be sent again,
/// and a slow source doesn't block other calls.
///
/// On Apple platforms, a body can be streamed. When the destination's buffer is full, the task is suspended until half
/// of its bytes are read:
/// - Bytes that Foundation receives before the suspension takes effect are buffered, so the memory limit is less strict
///   than in `CurlTransport`.
/// - The idle timeout doesn't apply to a suspended task, but the timeout of the whole exchange does.
/// - A stream occupies its connection until its end. Over HTTP/1.1, a host gets only a few connections, six by default,
///   so unread streams can block further calls to that host.
/// - The head's version is always HTTP/1.1, and there are no metrics, because Foundation reports both at the end.
/// - Foundation may delay the head and body until the first 512 bytes arrive, to detect their type, unless the
///   response's `Content-Type` is unambiguous, for example `application/json`.
///
/// Errors are `URLError`s. Their `userInfo` has the URL without user, query and fragment under
/// `NSURLErrorFailingURLErrorKey` and a sentence under `NSLocalizedDescriptionKey`. A GET with a body ends with
/// `.dataLengthExceedsMaximum`, as in URLSession itself.
///
/// On Linux, it is for tests: use `CurlTransport`. The type compiles and runs there so that tests can exercise the code
/// for Apple platforms, but Foundation sets limits that TargetKit doesn't repair:
/// - Trailers (RFC 9110 §6.5), and a connection that closes within the head of a response, end the process.
/// - A failed TLS handshake, an invalid body and other failures that Foundation reports as unknown end with
///   `.networkConnectionLost`.
/// - Memory isn't limited while a file or a progress closure is slower than the server. Foundation receives on one
///   thread for all sessions of the process.
/// - A streamed call ends with `.unsupportedURL` before anything is sent. Suspending a task would send its request
///   again, so a slow reader couldn't slow down the server.
/// - `Accept-Encoding` is `identity` unless the request sets it, because an incomplete compressed body would be
///   returned without an error.
/// - When a persistent connection closes before a response arrives, a POST with a body and every other nonidempotent
///   request end with `.networkConnectionLost`; the server may also receive the head again, without the body.
///   Foundation retries a request without a body, regardless of its method.
/// - Bytes that a server sends after a response can be read as the next response on that connection.
/// - Invalid `Content-Length` fields and several different ones are accepted. An endless response head ends with the
///   timeout.
/// - The body of a redirect status without `Location` is lost. IPv6 addresses, header fields that aren't UTF-8, and a
///   status line without the space after its code (RFC 9112 §4) fail.
/// - The order of the header fields changes between identical requests. If a response's field names differ only in case,
///   the values are ordered by spelling, not by position.
/// - A request without a body is sent with `Content-Length: 0` for every method except GET and HEAD.
/// - There are no metrics, and a response's version is always HTTP/1.1.
public final class URLSessionTransport: Transport {
    /// The default transport on Apple platforms.
    public static let shared = URLSessionTransport()

    // URLSession retains its delegate until it is invalidated, so the delegate isn't the transport.
    private let delegate: SessionDelegate
    let session: URLSession
    private let idleTimeout: TimeInterval
    private let tls: TLSPolicy
    private let streaming: URLSessionStreaming
    /// Whether the configuration is for background sessions, which aren't supported.
    private let isBackground: Bool

    /// Creates a transport with its own session and connections.
    ///
    /// - Parameters:
    ///   - configuration: Copied, without its cache, cookies and credential storage; default: `.ephemeral`. Its
    ///     `timeoutIntervalForRequest`, in seconds, is the idle timeout of requests without their own timeout, and its
    ///     `timeoutIntervalForResource` limits every exchange and WebSocket. With a background configuration, every call
    ///     ends with `.unsupportedURL`.
    ///   - tls: The TLS policy; default: ``TLSPolicy/system``. It never lowers the minimum version of the configuration.
    ///     On Linux, every call with another policy ends with `.unsupportedURL`. On Apple platforms, a client
    ///     certificate is a PKCS#12 file.
    public convenience init(configuration: URLSessionConfiguration = .ephemeral, tls: TLSPolicy = .system) {
        self.init(configuration: configuration, tls: tls, streaming: .system)
    }

    /// Creates a transport with a specific handling of slow readers.
    init(
        configuration: URLSessionConfiguration = .ephemeral,
        tls: TLSPolicy = .system,
        streaming: URLSessionStreaming
    ) {
        #if os(Linux)
        OpenSSL.keepDuringExit()
        #endif
        isBackground = configuration.identifier != nil
        // No background session is created, because each identifier allows only one.
        let copy = isBackground ? nil : configuration.copy() as? URLSessionConfiguration
        let configuration = copy ?? .ephemeral
        // On Linux (Swift 6.3.1), with a cache, a cancellation that races a completion ends the process.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        idleTimeout = configuration.timeoutIntervalForRequest
        // Each request has its own timeout, and the shorter one counts.
        configuration.timeoutIntervalForRequest = URLSessionCall.longestTimeout
        let callbacks = OperationQueue()
        callbacks.maxConcurrentOperationCount = 1
        callbacks.name = "TargetKit.URLSessionTransport"
        #if !canImport(FoundationNetworking)
        configuration.raiseTLSVersion(to: tls)
        #endif
        self.tls = tls
        self.streaming = streaming
        delegate = SessionDelegate(tls)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: callbacks)
    }

    deinit {
        delegate.close(session)
    }

    /// `false` on Linux, where URLSession can't stream responses.
    public var streamsResponses: Bool { streaming != .refused }

    /// `false` on Linux, where URLSession depends on how libcurl was built.
    public var upgradesConnections: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }

    /// Performs one exchange. Returns at the end of the head if the body is streamed.
    ///
    /// - Throws: A `URLError`, or the error of the request's ``BodySource``; `.cancelled` if the task is cancelled or
    ///   the transport is shut down.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = try URLSessionCall(request, idleTimeout: idleTimeout, streaming: streaming)
        guard !isBackground else {
            let words =
                "a background URLSessionConfiguration returns no response to a call; "
                + "use .default or .ephemeral, and your own URLSession for the background"
            throw URLError.failure(.unsupportedURL, message: words, for: call.url)
        }
        #if canImport(FoundationNetworking)
        guard tls == .system else {
            let words = "URLSession on Linux supports only the system's TLS policy; CurlTransport supports others"
            throw URLError.failure(.unsupportedURL, message: words, for: call.url)
        }
        #else
        if case .upgrade(let upgrade) = request.destination {
            guard let upgrade = upgrade as? any URLSessionUpgrade else {
                let words = "URLSession opens only WebSockets, and doesn't return other connections"
                throw URLError.failure(.unsupportedURL, message: words, for: call.url)
            }
            let longest = URLSessionCall.longestTimeout
            let idle = Duration.seconds(idleTimeout > 0 ? min(idleTimeout, longest) : longest)
            return try await upgrade.response(to: call.request, timeout: call.timeout ?? idle) {
                delegate.begin($0, messageLimit: $1, $2, in: session)
            }
        }
        #endif
        let exchange = URLSessionExchange(call, queue: delegate.queue, streaming: streaming)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if exchange.open(continuation) { delegate.begin(exchange, in: session) }
            }
        } onCancel: {
            exchange.fail(.cancelled)
        }
    }

    /// Cancels all exchanges and closes the connections, without waiting.
    ///
    /// Running exchanges and every later ``send(_:)`` end with `URLError(.cancelled)`.
    public func shutdown() {
        delegate.shutDown(session)
    }
}

/// The way in which a response is streamed to a slow reader.
enum URLSessionStreaming: Sendable {
    /// The call fails, because unread bytes would accumulate in memory.
    case refused
    /// The response is streamed, and unread bytes accumulate. For tests on Linux, where `suspend()` doesn't work.
    case unbounded
    /// The response is streamed, and its task is suspended while the channel is full.
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

#if !canImport(FoundationNetworking)
extension URLSessionConfiguration {
    /// Raises the minimum TLS version to the policy's, unless it is higher.
    package func raiseTLSVersion(to policy: TLSPolicy) {
        let version = policy.requiresTLS13 ? tls_protocol_version_t.TLSv13 : .TLSv12
        if tlsMinimumSupportedProtocolVersion.rawValue < version.rawValue {
            tlsMinimumSupportedProtocolVersion = version
        }
    }
}
#endif

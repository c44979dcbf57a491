// SPDX-License-Identifier: MIT
import TargetKit

/// The settings with which a ``MoyaProvider`` sends its requests.
///
/// TargetKit's transport sends the requests, with libcurl on Linux and a separate `URLSession` on Apple's systems. The
/// session determines the transport's settings:
///
/// | setting | effect |
/// |---|---|
/// | `timeoutIntervalForRequest` | the time without a byte after which a request times out |
/// | `timeoutIntervalForResource` | the time after which a request times out; a retry is another request |
/// | `httpAdditionalHeaders` | the fields of each request that doesn't have them |
/// | `httpMaximumConnectionsPerHost` | the number of connections to a host |
/// | `httpCookieStorage`, `httpShouldSetCookies` | the cookies that are sent and stored |
/// | `protocolClasses` | with a class of the app, a `URLSession` sends the requests |
/// | `allowsCellularAccess` | whether cellular networks are used |
/// | the interceptor | changes and retries requests |
/// | the server trust manager | the trusted servers |
/// | the redirect handler | whether redirects are followed |
///
/// Other settings have no effect; see <doc:DifferencesFromMoya>.
///
/// Like Alamofire's class, it is `@unchecked Sendable`, because apps store sessions in global constants, which Swift 6
/// allows only for `Sendable` types, and the compiler can't check a class that can have subclasses. Its properties
/// don't change. An interceptor or monitor that several calls share must protect its own state.
open class Session: @unchecked Sendable {
    /// A session with the default settings.
    public static let `default` = Session()

    /// The configuration.
    public let sessionConfiguration: URLSessionConfiguration
    /// The value passed to the initializer. It has no effect, because a provider starts each request itself.
    public let startRequestsImmediately: Bool
    /// Changes and retries requests; `nil` if there is none.
    public let interceptor: (any RequestInterceptor)?
    /// Determines which servers are trusted; `nil` for the servers that the system trusts.
    public let serverTrustManager: ServerTrustManager?
    /// Determines whether redirects are followed; `nil` to follow them.
    public let redirectHandler: Redirector?

    let additionalHeaders: [String: String]
    let eventMonitors: [any EventMonitor]
    /// The calls in flight of all providers with this session.
    let scope = RequestScope()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration; default: the system's, with ``HTTPHeaders/default``.
    ///   - delegate: Has no effect.
    ///   - rootQueue: Has no effect.
    ///   - startRequestsImmediately: Has no effect.
    ///   - requestSetup: Has no effect.
    ///   - requestQueue: Has no effect.
    ///   - serializationQueue: Has no effect.
    ///   - interceptor: Changes and retries requests; default: none.
    ///   - serverTrustManager: Determines which servers are trusted; default: the servers that the system trusts.
    ///   - redirectHandler: Determines whether redirects are followed; default: yes.
    ///   - cachedResponseHandler: Has no effect, because responses aren't cached.
    ///   - eventMonitors: Receive the events of requests; default: none.
    public init(
        configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "TargetKitMoya.Session"),
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .eager,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: Redirector? = nil,
        cachedResponseHandler: ResponseCacher? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        // The app may change its object later.
        sessionConfiguration = configuration.copy() as? URLSessionConfiguration ?? configuration
        self.startRequestsImmediately = startRequestsImmediately
        self.interceptor = interceptor
        self.serverTrustManager = serverTrustManager
        self.redirectHandler = redirectHandler
        self.eventMonitors = eventMonitors
        additionalHeaders = configuration.headers.dictionary
    }

    /// The time when a request is created. It has no effect.
    public enum RequestSetup: Sendable {
        /// Immediately.
        case eager
        /// When the request is started.
        case lazy
    }

    /// Creates a session with the configuration of a `URLSession`, which itself isn't used.
    public convenience init(
        session: URLSession,
        delegate: SessionDelegate,
        rootQueue: DispatchQueue,
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .eager,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: Redirector? = nil,
        cachedResponseHandler: ResponseCacher? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        self.init(
            configuration: session.configuration,
            delegate: delegate,
            rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately,
            interceptor: interceptor,
            serverTrustManager: serverTrustManager,
            redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler,
            eventMonitors: eventMonitors
        )
    }
}

extension Session {
    /// Cancels the calls in flight of all providers with this session. Stubbed calls aren't cancelled.
    ///
    /// - Parameters:
    ///   - queue: The queue of the completion; default: the main queue.
    ///   - completion: Called when the calls have been cancelled. Their own completion handlers may be called later.
    public func cancelAllRequests(completingOnQueue queue: DispatchQueue = .main, completion: (() -> Void)? = nil) {
        scope.cancelAll()
        guard let completion = completion.map(Unchecked.init) else { return }
        queue.async { completion.value() }
    }
}

/// The delegate of a session. It isn't called.
open class SessionDelegate: NSObject {
    /// Creates a delegate.
    ///
    /// - Parameter fileManager: Has no effect.
    public init(fileManager: FileManager = .default) {}
}

/// Whether redirects are followed.
public struct Redirector: Sendable {
    /// Whether redirects are followed.
    public enum Behavior: Sendable {
        /// Redirects are followed.
        case follow
        /// A redirect is the response.
        case doNotFollow
    }

    /// Redirects are followed.
    public static let follow = Redirector(behavior: .follow)
    /// A redirect is the response.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// Whether redirects are followed.
    public let behavior: Behavior

    /// Creates a handler.
    public init(behavior: Behavior) {
        self.behavior = behavior
    }
}

/// Specifies whether responses are cached. It has no effect, because responses are never cached.
public struct ResponseCacher: Sendable {
    /// Whether responses are cached.
    public enum Behavior: Sendable {
        /// Responses are cached. Has no effect.
        case cache
        /// Responses aren't cached.
        case doNotCache
    }

    /// Responses are cached. Has no effect.
    public static let cache = ResponseCacher(behavior: .cache)
    /// Responses aren't cached.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// Whether responses are cached.
    public let behavior: Behavior

    /// Creates a handler.
    public init(behavior: Behavior) {
        self.behavior = behavior
    }
}

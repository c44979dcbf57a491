// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request and the session for which a ``RequestAdapter`` is called.
public struct RequestAdapterState: Sendable {
    /// The identifier of the request.
    public let requestID: UUID
    /// The session that sends the request.
    public let session: Session
}

/// Changes requests before they are sent.
public protocol RequestAdapter {
    /// Changes a request, and passes it or an error to the completion, which must be called once.
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    )

    /// Changes a request, and passes it or an error to the completion, which must be called once. Default: calls
    /// ``adapt(_:for:completion:)``.
    func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    )
}

extension RequestAdapter {
    /// Calls ``adapt(_:for:completion:)``.
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }
}

/// The decision of a ``RequestRetrier``.
public enum RetryResult: Sendable {
    /// Retry at once.
    case retry
    /// Retry after a delay in seconds.
    case retryWithDelay(TimeInterval)
    /// Do not retry, but let other retriers decide.
    case doNotRetry
    /// Do not retry, and end the request with another error.
    case doNotRetryWithError(any Error)
}

/// Decides whether a request that has failed is retried.
public protocol RequestRetrier {
    /// Decides about a failed request, and passes the decision to the completion, which must be called once.
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping (RetryResult) -> Void
    )
}

/// Changes requests before they are sent, and decides whether those that have failed are retried.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Passes the request unchanged.
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Does not retry.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// Changes a request before it is sent.
public typealias AdaptHandler = (
    URLRequest, Session, _ completion: @escaping (Result<URLRequest, any Error>) -> Void
) -> Void

/// Decides whether a request that has failed is retried.
public typealias RetryHandler = (Request, Session, any Error, _ completion: @escaping (RetryResult) -> Void) -> Void

/// An adapter with a closure.
open class Adapter: RequestInterceptor {
    private let handler: AdaptHandler

    /// Creates an adapter.
    public init(_ adaptHandler: @escaping AdaptHandler) {
        handler = adaptHandler
    }

    /// Calls the closure.
    open func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    ) {
        handler(urlRequest, session, completion)
    }
}

/// A retrier with a closure.
open class Retrier: RequestInterceptor {
    private let handler: RetryHandler

    /// Creates a retrier.
    public init(_ retryHandler: @escaping RetryHandler) {
        handler = retryHandler
    }

    /// Calls the closure.
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping (RetryResult) -> Void
    ) {
        handler(request, session, error, completion)
    }
}

/// Adapters and retriers in order. Each adapter receives the request of the one before; the first decision other than
/// ``RetryResult/doNotRetry`` is taken.
open class Interceptor: RequestInterceptor {
    /// The adapters.
    public let adapters: [any RequestAdapter]
    /// The retriers.
    public let retriers: [any RequestRetrier]

    /// Creates an interceptor with closures.
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        adapters = [Adapter(adaptHandler)]
        retriers = [Retrier(retryHandler)]
    }

    /// Creates an interceptor of an adapter and a retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
        adapters = [adapter]
        retriers = [retrier]
    }

    /// Creates an interceptor of adapters, retriers and interceptors, which come last.
    public init(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Passes the request through the adapters.
    open func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    ) {
        Self.adapt(urlRequest, with: adapters[...], completion) { $0.adapt($1, for: session, completion: $2) }
    }

    /// Passes the request through the adapters.
    open func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping (Result<URLRequest, any Error>) -> Void
    ) {
        Self.adapt(urlRequest, with: adapters[...], completion) { $0.adapt($1, using: state, completion: $2) }
    }

    /// Asks the retriers.
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping (RetryResult) -> Void
    ) {
        Self.ask(retriers[...], request, session, error, completion)
    }

    private typealias Adapting = (
        any RequestAdapter, URLRequest, @escaping (Result<URLRequest, any Error>) -> Void
    ) -> Void

    private static func adapt(
        _ request: URLRequest,
        with adapters: ArraySlice<any RequestAdapter>,
        _ completion: @escaping (Result<URLRequest, any Error>) -> Void,
        _ adapting: @escaping Adapting
    ) {
        guard let adapter = adapters.first else { return completion(.success(request)) }
        adapting(adapter, request) { result in
            switch result {
            case .success(let request): adapt(request, with: adapters.dropFirst(), completion, adapting)
            case .failure: completion(result)
            }
        }
    }

    private static func ask(
        _ retriers: ArraySlice<any RequestRetrier>,
        _ request: Request,
        _ session: Session,
        _ error: any Error,
        _ completion: @escaping (RetryResult) -> Void
    ) {
        guard let retrier = retriers.first else { return completion(.doNotRetry) }
        retrier.retry(request, for: session, dueTo: error) { result in
            guard case .doNotRetry = result else { return completion(result) }
            ask(retriers.dropFirst(), request, session, error, completion)
        }
    }
}

/// Retries requests that fail for a transient reason, with growing delays.
open class RetryPolicy: RequestInterceptor {
    /// The default number of retries: 2.
    public static let defaultRetryLimit: UInt = 2
    /// The default base of the delay: 2.
    public static let defaultExponentialBackoffBase: UInt = 2
    /// The default scale of the delay in seconds: 0.5.
    public static let defaultExponentialBackoffScale: Double = 0.5
    /// The methods that are idempotent (RFC 9110 §9.2.2).
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]
    /// 408, 500, 502, 503 and 504.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The codes of failures that can be transient.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse,
        .callIsActive, .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed,
        .dnsLookupFailed, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .timedOut,
    ]

    /// The number of retries.
    public let retryLimit: UInt
    /// The base of the delay.
    public let exponentialBackoffBase: UInt
    /// The scale of the delay in seconds.
    public let exponentialBackoffScale: Double
    /// The methods that are retried.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The status codes that are retried. The target's validation must not accept them.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The codes of failures that are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>

    /// Creates a policy. The delay before retry *n* is `base` to the power of *n*, times `scale`.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) {
        self.retryLimit = retryLimit
        self.exponentialBackoffBase = exponentialBackoffBase
        self.exponentialBackoffScale = exponentialBackoffScale
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
    }

    /// Retries after the delay if the request and its failure allow it.
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping (RetryResult) -> Void
    ) {
        guard request.retryCount < retryLimit, shouldRetry(request: request, dueTo: error) else {
            return completion(.doNotRetry)
        }
        let delay = pow(Double(exponentialBackoffBase), Double(request.retryCount)) * exponentialBackoffScale
        completion(.retryWithDelay(delay))
    }

    /// Whether the request's method, and its status code or failure, are among those of the policy.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) { return true }
        let cause = error.asAFError?.underlyingError ?? error
        return (cause as? URLError).map { retryableURLErrorCodes.contains($0.code) } ?? false
    }
}

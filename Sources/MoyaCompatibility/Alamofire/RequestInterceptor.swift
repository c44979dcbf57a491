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
    /// Changes a request, and passes it or an error to the completion handler. Call the handler exactly once.
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    )

    /// Changes a request, and passes it or an error to the completion handler. Call the handler exactly once. Default:
    /// calls ``adapt(_:for:completion:)``.
    func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    )
}

extension RequestAdapter {
    /// Calls ``adapt(_:for:completion:)``.
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }
}

/// The decision of a ``RequestRetrier``.
public enum RetryResult: Sendable {
    /// Retry immediately.
    case retry
    /// Retry after a delay in seconds.
    case retryWithDelay(TimeInterval)
    /// Don't retry, but let other retriers decide.
    case doNotRetry
    /// Don't retry, and end the request with another error.
    case doNotRetryWithError(any Error)
}

/// Decides whether to retry a failed request.
public protocol RequestRetrier {
    /// Decides whether to retry a failed request, and passes the decision to the completion handler. Call the handler
    /// exactly once.
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

/// Changes requests before they are sent, and decides whether to retry failed ones.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Passes the request unchanged.
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Doesn't retry.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// Changes a request before it is sent.
public typealias AdaptHandler = (
    URLRequest, Session, _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
) -> Void

/// Decides whether to retry a failed request.
public typealias RetryHandler = (
    Request, Session, any Error, _ completion: @escaping @Sendable (RetryResult) -> Void
) -> Void

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
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
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
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        handler(request, session, error, completion)
    }
}

/// An ordered list of adapters and retriers. Each adapter receives the request of the previous one. The first decision
/// other than ``RetryResult/doNotRetry`` applies.
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

    /// Creates an interceptor of adapters, retriers and interceptors. The interceptors come last.
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
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        Self.adapt(urlRequest, with: adapters[...], completion) { $0.adapt($1, for: session, completion: $2) }
    }

    /// Passes the request through the adapters.
    open func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        Self.adapt(urlRequest, with: adapters[...], completion) { $0.adapt($1, using: state, completion: $2) }
    }

    /// Calls the retriers in order.
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        Self.ask(retriers[...], request: request, session: session, error: error, completion: completion)
    }

    private typealias Adapting = (
        any RequestAdapter, URLRequest, @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

    private static func adapt(
        _ request: URLRequest,
        with adapters: ArraySlice<any RequestAdapter>,
        _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void,
        _ adapting: @escaping Adapting
    ) {
        guard let adapter = adapters.first else { return completion(.success(request)) }
        let next = Unchecked((adapters: adapters.dropFirst(), adapting: adapting))
        adapting(adapter, request) { result in
            switch result {
            case .success(let request): adapt(request, with: next.value.adapters, completion, next.value.adapting)
            case .failure: completion(result)
            }
        }
    }

    private static func ask(
        _ retriers: ArraySlice<any RequestRetrier>,
        request: Request,
        session: Session,
        error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let retrier = retriers.first else { return completion(.doNotRetry) }
        let others = Unchecked(retriers.dropFirst())
        retrier.retry(request, for: session, dueTo: error) { result in
            guard case .doNotRetry = result else { return completion(result) }
            ask(others.value, request: request, session: session, error: error, completion: completion)
        }
    }
}

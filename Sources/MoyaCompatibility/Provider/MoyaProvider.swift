// SPDX-License-Identifier: MIT
import TargetKit

/// The part of a provider that extensions use.
public protocol MoyaProviderType: AnyObject {
    /// The type of the targets.
    associatedtype Target: TargetType

    /// Starts a call.
    func request(
        _ target: Target,
        callbackQueue: DispatchQueue?,
        progress: ProgressBlock?,
        completion: @escaping Completion
    ) -> any Cancellable
}

/// Makes the calls of one target type, with Moya's interface and TargetKit's pipeline.
///
/// ```swift
/// let provider = MoyaProvider<GitHub>(plugins: [NetworkLoggerPlugin()])
/// provider.request(.zen) { result in
///     print((try? result.get().mapString()) ?? "")
/// }
/// ```
///
/// The endpoint is created on the caller's thread. The progress and completion handlers are called on the callback
/// queue, by default the main queue. ``targetKit`` makes the same calls with TargetKit's interface.
///
/// The class is `@unchecked Sendable`, because apps store providers in global constants, which Swift 6 allows only for
/// `Sendable` types, and the compiler can't check a class that can have subclasses. Its properties don't change or are
/// locked. As in Moya, the closures are called on the caller's thread. A subclass repeats the conformance:
/// `class StubbedProvider: MoyaProvider<GitHub>, @unchecked Sendable`.
open class MoyaProvider<Target: TargetType>: MoyaProviderType, @unchecked Sendable {
    /// Creates the endpoint of a target.
    public typealias EndpointClosure = (Target) -> Endpoint
    /// Receives the request of an endpoint, or an error.
    public typealias RequestResultClosure = (Result<URLRequest, MoyaError>) -> Void
    /// Creates the request of an endpoint, now or later, and passes it to the closure.
    public typealias RequestClosure = (Endpoint, @escaping RequestResultClosure) -> Void
    /// Decides whether a call is stubbed.
    public typealias StubClosure = (Target) -> StubBehavior

    /// Creates the endpoint of a target.
    public let endpointClosure: EndpointClosure
    /// Creates the request of an endpoint.
    public let requestClosure: RequestClosure
    /// Decides whether a call is stubbed.
    public let stubClosure: StubClosure
    /// The settings with which requests are sent.
    public let session: Session
    /// The plugins, in order.
    public let plugins: [any PluginType]
    /// Whether calls with equal endpoints share one request.
    public let trackInflights: Bool

    let callbackQueue: DispatchQueue?
    let targetKitPlugins: [any Plugin]
    let inflightCalls = InflightCalls()
    private let pipeline = Locked<Provider<LegacyTarget<Target>>?>(nil)

    /// The completion handlers that wait for a shared request, by endpoint; empty unless ``trackInflights`` is set.
    open var inflightRequests: [Endpoint: [Completion]] { inflightCalls.completions }

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - endpointClosure: Creates the endpoint of a target; default: the endpoint that the target describes.
    ///   - requestClosure: Creates the request of an endpoint, now or later; default: ``Endpoint/urlRequest()``.
    ///   - stubClosure: Decides whether a call is stubbed; default: never.
    ///   - callbackQueue: The queue of the progress and completion handlers; default `nil`: the main queue.
    ///   - session: The settings with which requests are sent; default: ``defaultAlamofireSession()``.
    ///   - plugins: The plugins, in order; default: none.
    ///   - trackInflights: Whether calls with equal endpoints share one request; default: no.
    public init(
        endpointClosure: @escaping EndpointClosure = { MoyaProvider.defaultEndpointMapping(for: $0) },
        requestClosure: @escaping RequestClosure = { MoyaProvider.defaultRequestMapping(for: $0, closure: $1) },
        stubClosure: @escaping StubClosure = { _ in .never },
        callbackQueue: DispatchQueue? = nil,
        session: Session = MoyaProvider<Target>.defaultAlamofireSession(),
        plugins: [any PluginType] = [],
        trackInflights: Bool = false
    ) {
        self.endpointClosure = endpointClosure
        self.requestClosure = requestClosure
        self.stubClosure = stubClosure
        self.callbackQueue = callbackQueue
        self.session = session
        self.plugins = plugins
        self.trackInflights = trackInflights
        targetKitPlugins = []
    }

    /// Creates a provider with both Moya plugins and TargetKit plugins.
    ///
    /// - Parameters:
    ///   - endpointClosure: Creates the endpoint of a target; default: the endpoint that the target describes.
    ///   - requestClosure: Creates the request of an endpoint, now or later; default: ``Endpoint/urlRequest()``.
    ///   - stubClosure: Decides whether a call is stubbed; default: never.
    ///   - callbackQueue: The queue of the progress and completion handlers; default `nil`: the main queue.
    ///   - session: The settings with which requests are sent; default: ``defaultAlamofireSession()``.
    ///   - plugins: The Moya plugins, in order; default: none.
    ///   - trackInflights: Whether calls with equal endpoints share one request; default: no.
    ///   - targetKitPlugins: The TargetKit plugins, which run in the order of their places. With them, stubbed calls
    ///     end asynchronously, because their hooks can wait.
    public init(
        endpointClosure: @escaping EndpointClosure = { MoyaProvider.defaultEndpointMapping(for: $0) },
        requestClosure: @escaping RequestClosure = { MoyaProvider.defaultRequestMapping(for: $0, closure: $1) },
        stubClosure: @escaping StubClosure = { _ in .never },
        callbackQueue: DispatchQueue? = nil,
        session: Session = MoyaProvider<Target>.defaultAlamofireSession(),
        plugins: [any PluginType] = [],
        trackInflights: Bool = false,
        targetKitPlugins: [any Plugin]
    ) {
        self.endpointClosure = endpointClosure
        self.requestClosure = requestClosure
        self.stubClosure = stubClosure
        self.callbackQueue = callbackQueue
        self.session = session
        self.plugins = plugins
        self.trackInflights = trackInflights
        self.targetKitPlugins = targetKitPlugins
    }

    /// Returns the endpoint of a target, which ``endpointClosure`` creates.
    open func endpoint(_ token: Target) -> Endpoint {
        endpointClosure(token)
    }

    /// Starts a call.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - callbackQueue: The queue of the progress and completion handlers; default `nil`: the provider's.
    ///   - progress: Receives the progress; the last step has the response.
    ///   - completion: Called exactly once. For a call that is stubbed without a delay or a queue, it is called before
    ///     this method returns.
    /// - Returns: A token that can cancel the call. Releasing it doesn't cancel the call.
    @discardableResult
    open func request(
        _ target: Target,
        callbackQueue: DispatchQueue? = .none,
        progress: ProgressBlock? = .none,
        completion: @escaping Completion
    ) -> any Cancellable {
        requestNormal(
            target,
            callbackQueue: callbackQueue ?? self.callbackQueue,
            progress: progress,
            completion: completion
        )
    }

    /// Ends a call with its sample. An override must first call ``notifyPluginsOfImpendingStub(for:target:)``.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - request: The request, before the plugins change it.
    ///   - callbackQueue: The queue of the completion handler; `nil` for the caller's thread, or the main queue after a
    ///     delay.
    ///   - completion: Called exactly once.
    ///   - endpoint: The endpoint with the sample.
    ///   - stubBehavior: Whether the call ends now or after a delay. ``StubBehavior/never`` ends it with an error.
    @discardableResult
    open func stubRequest(
        _ target: Target,
        request: URLRequest,
        callbackQueue: DispatchQueue?,
        completion: @escaping Completion,
        endpoint: Endpoint,
        stubBehavior: StubBehavior
    ) -> CancellableToken {
        let queue = callbackQueue ?? self.callbackQueue
        guard targetKitPlugins.isEmpty else {
            let call = MoyaCall(
                Request(session: session),
                urlRequest: request,
                endpoint: endpoint,
                stub: stubBehavior.targetKitBehavior
            )
            return send(call, target: target, on: queue, progress: nil, completion: completion)
        }
        let end = Locked<Unchecked<() -> Void>?>(nil)
        let endOnce = { @Sendable in
            let ending = end.withLock { ending in
                defer { ending = nil }
                return ending
            }
            ending?.value()
        }
        // A delayed call that is cancelled doesn't wait.
        let token = CancellableToken { (queue ?? .main).async(execute: endOnce) }
        let prepared = notifyPluginsOfImpendingStub(for: request, target: target)
        let stub = Unchecked(
            createStubFunction(
                token,
                forTarget: target,
                withCompletion: completion,
                endpoint: endpoint,
                plugins: plugins,
                request: prepared
            )
        )
        switch (stubBehavior, queue) {
        case (.immediate, nil): stub.value()
        case (.immediate, let queue?): queue.async { stub.value() }
        case (.delayed(let seconds), _):
            end.withLock { $0 = stub }
            (queue ?? .main).asyncAfter(deadline: .now() + min(max(0, seconds), 1e9), execute: endOnce)
        case (.never, _):
            completion(.failure(.underlying(StubbingDisabledError(), nil)))
        }
        return token
    }

    /// A TargetKit provider that makes the same calls.
    ///
    /// ```swift
    /// let response = try await provider.targetKit.request(LegacyTarget(.zen))
    /// ```
    ///
    /// The closures, the session and the plugins apply to its calls, but Moya plugins aren't called on the main queue.
    public var targetKit: Provider<LegacyTarget<Target>> {
        if let provider = pipeline.withLock({ $0 }) { return provider }
        let new = makePipeline()
        return pipeline.withLock { pipeline in
            if let pipeline { return pipeline }
            pipeline = new
            return new
        }
    }
}

/// Specifies whether and when a call returns its sample.
public enum StubBehavior: Sendable {
    /// The call uses the network.
    case never
    /// The call returns the sample immediately.
    case immediate
    /// The call returns the sample after a delay in seconds.
    case delayed(seconds: TimeInterval)
}

extension StubBehavior {
    var targetKitBehavior: TargetKit.StubBehavior {
        switch self {
        case .never: .never
        case .immediate: .immediate
        case .delayed(let seconds): .delayed(.seconds(min(max(0, seconds), 1e9)))
        }
    }
}

/// An error for a call of `stubRequest` with the behavior `.never`.
struct StubbingDisabledError: LocalizedError {
    var errorDescription: String? { "The request can't be stubbed, because its stub behavior is never." }
}

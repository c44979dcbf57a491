// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes the calls of one target type.
///
/// ```swift
/// let provider = Provider<Catalog>(plugins: [NetworkLoggerPlugin()])
/// let products = try await provider.request(.search(text: "tea", page: 1), as: [Product].self)
/// ```
///
/// The path of every call is the same: target → endpoint → request → plugins → transport → validation → plugins → caller. A stub
/// replaces the transport and nothing else.
///
/// A provider that its owner lets go of still finishes what it has started, plugins included.
public final class Provider<Target: TargetType>: Sendable {
    let endpointClosure: @Sendable (Target) throws -> Endpoint
    let stubClosure: @Sendable (Target) -> StubBehavior
    let sharing: InFlightSharing
    let timeout: CallTimeout
    let traits = TargetTraits(of: Target.self)
    let decoder: JSONDecoder
    let pipeline: Pipeline

    /// Where the closures of calls run that name no queue of their own.
    public let callbackQueue: DispatchQueue

    /// The calls of this provider and of those that share the scope.
    public let scope: RequestScope

    /// A provider.
    ///
    /// - Parameters:
    ///   - endpointClosure: Makes the endpoint of a target; default: what the target says.
    ///   - requestClosure: Makes the request of an endpoint; default `nil`: ``Endpoint/urlRequest()``.
    ///   - stubClosure: Whether a target is answered by its sample, asked once for each call; default: never.
    ///   - transport: Sends the requests; default: the system's, shared by all providers.
    ///   - plugins: Behaviour around each call, in this order.
    ///   - sharing: Which calls share one network call with identical ones in flight; default: none. A ``SharingTarget`` says it
    ///     for itself.
    ///   - redirects: What becomes of redirects; default: up to 10 are followed, by the rules of ``RedirectPolicy``.
    ///   - cookies: Keeps the cookies that servers set, and sends them back; default `nil`: none are. Providers that are to share
    ///     cookies are given the same store. Stubbed targets neither read nor write it.
    ///   - scope: What the calls belong to; default: a scope of this provider alone.
    ///   - timeout: How long calls may take, where neither call nor target says; default: the transport's own limits.
    ///   - callbackQueue: Where the closures of calls run that name no queue of their own; default: the main queue.
    ///   - clock: What delayed stubs, waits before a retry and timeouts are measured by; default: the continuous clock. The time of
    ///     one exchange is kept by the transport, unless this is another clock.
    ///   - decoder: Decodes the JSON of responses, where neither call nor target (``DecodingTarget``) says; default: a plain one.
    public init(
        endpointClosure: @escaping @Sendable (Target) throws -> Endpoint = Endpoint.init(target:),
        requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)? = nil,
        stubClosure: @escaping @Sendable (Target) -> StubBehavior = { _ in .never },
        transport: any Transport = SystemTransport.shared,
        plugins: [any Plugin] = [],
        sharing: InFlightSharing = .never,
        redirects: RedirectPolicy = .follow(),
        cookies: CookieStore? = nil,
        scope: RequestScope = RequestScope(),
        timeout: CallTimeout = .none,
        callbackQueue: DispatchQueue = .main,
        clock: any Clock<Duration> = ContinuousClock(),
        decoder: JSONDecoder = JSONDecoder()
    ) {
        self.endpointClosure = endpointClosure
        self.stubClosure = stubClosure
        self.sharing = sharing
        self.scope = scope
        self.timeout = timeout
        self.callbackQueue = callbackQueue
        self.decoder = decoder
        pipeline = Pipeline(
            requestClosure: requestClosure,
            transport: transport,
            plugins: PluginChain(plugins: plugins),
            redirects: redirects,
            cookies: cookies,
            decoder: decoder,
            clock: clock
        )
    }

    /// Cancels the calls of this provider that are in flight; others of its scope go on.
    public func cancelAll() {
        scope.cancelAll(ownedBy: self)
    }
}

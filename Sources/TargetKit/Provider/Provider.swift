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
/// The path of every call is the same: target → endpoint → request → plugins → transport → validation → decoding → plugins →
/// caller. A stub replaces the transport and nothing else.
///
/// A provider that its owner releases still finishes the calls that it has started, plugins included.
public final class Provider<Target: TargetType>: Sendable {
    let endpointClosure: @Sendable (Target) throws -> Endpoint
    let stubClosure: @Sendable (Target) -> StubBehavior
    let options: CallOptions
    let configuration: CallConfiguration

    /// The calls of this provider and of those that share the scope.
    public let scope: RequestScope

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - endpointClosure: Makes the endpoint of a target; default: as the target describes it.
    ///   - requestClosure: Makes the request of an endpoint; default `nil`: ``Endpoint/urlRequest()``.
    ///   - stubClosure: Whether a target is answered by its sample, asked once for each call; default: never.
    ///   - transport: Sends the requests; default: the system's, shared by all providers.
    ///   - plugins: Behavior around each call, in the order of their places (``PluginPlace``).
    ///   - options: The options of all calls, which targets and calls override; default: none.
    ///   - redirects: Whether redirects are followed; default: up to 10, by the rules of ``RedirectPolicy``.
    ///   - cookies: Keeps the cookies that servers set, and sends them back; default `nil`: none. Providers that are to share
    ///     cookies are given the same store. Stubbed targets neither read nor write it.
    ///   - scope: What the calls belong to; default: a scope of this provider alone.
    ///   - clock: Measures delayed stubs, delays before a retry and timeouts; default: the continuous clock. The timeout of one
    ///     exchange is measured by the transport, unless this is another clock.
    public init(
        endpointClosure: @escaping @Sendable (Target) throws -> Endpoint = Endpoint.init(target:),
        requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)? = nil,
        stubClosure: @escaping @Sendable (Target) -> StubBehavior = { _ in .never },
        transport: any Transport = SystemTransport.shared,
        plugins: [any Plugin] = [],
        options: CallOptions = CallOptions(),
        redirects: RedirectPolicy = .follow(),
        cookies: CookieStore? = nil,
        scope: RequestScope = RequestScope(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.endpointClosure = endpointClosure
        self.stubClosure = stubClosure
        self.options = options
        self.scope = scope
        configuration = CallConfiguration(
            of: Target.self,
            requestClosure: requestClosure,
            transport: transport,
            plugins: PluginChain(plugins),
            redirects: redirects,
            cookies: cookies,
            clock: clock
        )
    }

    /// Cancels the calls of this provider that are in flight; other calls of its scope go on.
    public func cancelAll() {
        scope.cancelAll(ownedBy: self)
    }
}

// SPDX-License-Identifier: MIT

/// Makes the calls of one target type.
///
/// ```swift
/// let provider = Provider<Catalog>(plugins: [NetworkLoggerPlugin()])
/// let products = try await provider.request(.search(text: "tea", page: 1), as: [Product].self)
/// ```
///
/// Every call takes the same path: target → endpoint → request → plugins → transport → validation → decoding → plugins
/// → caller. A stub replaces only the exchange with the server.
///
/// Releasing a provider doesn't cancel its calls. They finish, and their plugins' hooks run.
public final class Provider<Target: TargetType>: Sendable {
    let endpointClosure: @Sendable (Target) throws -> Endpoint
    let stubClosure: @Sendable (Target) -> StubBehavior
    let options: CallOptions
    let configuration: CallConfiguration

    /// Measures retry delays and timeouts.
    package var clock: any Clock<Duration> { configuration.clock }
    package var transport: any Transport { configuration.transport }

    /// The scope of this provider's calls, which other providers can share.
    public let scope: RequestScope

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - endpointClosure: Creates the endpoint of a target; default: the endpoint that the target describes.
    ///   - requestClosure: Creates the request of an endpoint; default `nil`, which means ``Endpoint/urlRequest()``.
    ///   - stubClosure: Decides once for each call whether the target's sample is returned; default: never.
    ///   - transport: Sends the requests; default: the system's transport, shared by all providers.
    ///   - plugins: The plugins, which run in the order of their places (``PluginPlace``).
    ///   - options: The options of all calls, which targets and calls can override; default: none.
    ///   - redirects: The redirects to follow; default: up to 10, by the rules of ``RedirectPolicy``.
    ///   - scope: The scope of the calls; default: a new scope for this provider.
    ///   - clock: Measures delayed stubs, retry delays and timeouts; default: the continuous clock. With the default
    ///     clock, the transport measures the exchange timeout.
    public init(
        endpointClosure: @escaping @Sendable (Target) throws -> Endpoint = Endpoint.init(target:),
        requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)? = nil,
        stubClosure: @escaping @Sendable (Target) -> StubBehavior = { _ in .never },
        transport: any Transport = SystemTransport.shared,
        plugins: [any Plugin] = [],
        options: CallOptions = CallOptions(),
        redirects: RedirectPolicy = .follow(),
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
            clock: clock
        )
    }

    /// Cancels this provider's calls in flight. Other calls of its scope continue.
    public func cancelAll() {
        scope.cancelAll(ownedBy: self)
    }
}

/// The default transport: libcurl on Linux, URLSession on Apple platforms.
public enum SystemTransport {
    /// The instance that providers share by default, with its persistent connections.
    public static var shared: any Transport {
        #if os(Linux)
        CurlTransport.shared
        #else
        URLSessionTransport.shared
        #endif
    }
}

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
    private let endpointClosure: @Sendable (Target) throws -> Endpoint
    private let stubClosure: @Sendable (Target) -> StubBehavior
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

// MARK: - A call from its start to its end

extension Provider {
    /// A new call, which its scope knows until ``end(_:_:streamedByteCount:)``; it is not accepted if the scope is shut down.
    func begin(
        _ target: Target,
        options: CallOptions,
        delivery: Call.Delivery = .response,
        isAwaited: Bool = false,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        decoding: (CallOptions) -> Call.Decoding? = { _ in nil }
    ) -> Call {
        let inner: any TargetType = Target.self == MultiTarget.self ? target.innermost : target
        let resolved = resolved(options, for: target)
        let handle = RequestHandle()
        let context = RequestContext(
            inner: inner,
            scope: scope,
            options: resolved,
            secretHeaders: configuration.plugins.secretHeaders,
            handle: handle
        )
        let isShared = !delivery.isStream && resolved.sharesInFlight
        return Call(
            configuration,
            context: context,
            isAccepted: scope.insert(context, owner: self, handle: handle),
            delivery: delivery,
            isShared: isShared,
            hasOwnTask: !isAwaited || isShared || !configuration.waitsForTransportOnly,
            exchangeTimeout: options.timeout.exchange,
            progress: progress,
            decoding: decoding(resolved)
        )
    }

    /// Runs a call up to its result, within its time.
    func run(_ call: Call, _ target: Target) async -> Result<Response, TargetKitError> {
        // That of a stream covers its body.
        let deadline = call.delivery.isStream ? nil : deadline(of: call)
        defer { deadline?.cancel() }
        let result = await call.run {
            guard call.isAccepted else { throw TargetKitError(stage: .shutDown) }
            let endpoint = try endpointClosure(target)
            let headers = call.context.options.headers
            return Call.Resolved(
                endpoint: headers.isEmpty ? endpoint : endpoint.adding(headers: headers),
                stub: stubClosure(target)
            )
        }
        return call.ended(result)
    }

    /// Ends a call: the plugins' `didFinish`, then the completion, which the scope's shutdown waits for.
    func end(
        _ call: Call,
        _ result: Result<Response, TargetKitError>,
        streamedByteCount: Int64? = nil,
        _ completion: (() -> Void)? = nil
    ) {
        var context = call.context
        if let start = call.start {
            context.attempt = context.handle.attempt
            let duration = start.duration(to: .now)
            let finished = FinishedCall(result: result, duration: duration, streamedByteCount: streamedByteCount)
            configuration.plugins.didFinish(finished, context: context)
            context.handle.removeStorage()
        }
        if call.isAccepted {
            scope.remove(context.id, completion)
        } else {
            completion?()
        }
    }

    /// Ends the call when its time is over, unless it is cancelled before.
    func deadline(of call: Call) -> Task<Void, Never>? {
        guard let limit = call.context.options.timeout.wholeCall, limit > .zero else { return nil }
        return Task { [clock = configuration.clock, handle = call.handle] in
            do {
                try await clock.wait(for: limit)
                handle.interrupt(.timedOut)
            } catch {
                // Cancelled: the call has ended.
            }
        }
    }
}

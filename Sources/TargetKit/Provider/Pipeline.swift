// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The way that every call of a provider goes, without the provider's target type: so it is compiled to the end once, and not
/// worked out anew at each call.
final class Pipeline: Sendable {
    /// What a provider's closures make of a target; in one place, since it is handed from step to step.
    final class Aim: Sendable {
        let endpoint: Endpoint
        let stub: StubBehavior

        init(endpoint: Endpoint, stub: StubBehavior) {
            self.endpoint = endpoint
            self.stub = stub
        }
    }

    /// Makes the request of an endpoint; `nil`: what ``Endpoint/urlRequest()`` makes, which nothing has to wait for.
    let requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)?
    let transport: any Transport
    /// The transport, when awaited calls need no task of their own for it.
    let interruptibleTransport: (any InterruptibleTransport)?
    let plugins: PluginChain
    let follower: RedirectFollower
    let sharedCalls = SharedCalls()
    let decoder: JSONDecoder
    let clock: any Clock<Duration>

    init(
        requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)?,
        transport: any Transport,
        plugins: PluginChain,
        redirects: RedirectPolicy,
        cookies: CookieStore?,
        decoder: JSONDecoder,
        clock: any Clock<Duration>
    ) {
        self.requestClosure = requestClosure
        self.transport = transport
        interruptibleTransport = Task<Void, Never>.canStartNow ? transport as? any InterruptibleTransport : nil
        self.plugins = plugins
        follower = RedirectFollower(
            policy: redirects,
            secretNames: plugins.secretHeaders,
            cookies: cookies,
            clock: clock
        )
        self.decoder = decoder
        self.clock = clock
    }
}

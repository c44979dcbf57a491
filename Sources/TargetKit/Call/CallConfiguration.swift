// SPDX-License-Identifier: MIT

/// The configuration that all calls of a provider share.
final class CallConfiguration: Sendable {
    /// Creates the request of an endpoint; if `nil`, ``Endpoint/urlRequest()`` is used.
    let requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)?
    let transport: any Transport
    let redirects: RedirectFollower
    let clock: any Clock<Duration>
    /// The clock if it is a test clock that counts calls; otherwise `nil`.
    let countingClock: (any CallCountingClock)?
    let elapsedTime: ElapsedTime
    /// Whether a target may be an ``ErrorMappingTarget``. Computed once, because a conformance check is slow.
    let mapsErrors: Bool
    let sharedExchanges = SharedExchanges()
    let plugins: PluginChain

    /// The clock for the exchange timeout; `nil` if the transport measures it on the continuous clock.
    var exchangeClock: (any Clock<Duration>)? { clock is ContinuousClock ? nil : clock }

    init<Target: TargetType>(
        of type: Target.Type,
        requestClosure: (@Sendable (Endpoint) async throws -> URLRequest)?,
        transport: any Transport,
        plugins: PluginChain,
        redirects: RedirectPolicy,
        clock: any Clock<Duration>
    ) {
        self.requestClosure = requestClosure
        self.transport = transport
        self.plugins = plugins
        self.redirects = RedirectFollower(policy: redirects, secretNames: plugins.secretHeaders)
        self.clock = clock
        countingClock = clock as? any CallCountingClock
        elapsedTime = ElapsedTime(clock)
        // A `MultiTarget` wraps any target, and an object may be an instance of a subclass.
        mapsErrors = type == MultiTarget.self || type is AnyObject.Type || type is any ErrorMappingTarget.Type
    }
}

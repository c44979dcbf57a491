// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Rejects calls to a failing server, so that they fail fast and the server has time to recover.
///
/// ```swift
/// let breaker = CircuitBreakerPlugin { server, state in log.note("\(server) is \(state)") }
/// ```
///
/// Each server has a separate circuit. Initially, it is *closed*, and calls are sent. When enough calls have failed
/// within a window of time (``CircuitBreakerPolicy``), it *opens*, and calls fail immediately with
/// `CircuitOpenError`, which contains the remaining time. After that time, it is *half-open*: a few calls are sent as
/// probes, and the others are still rejected. If the probes succeed, the circuit closes; if one of them fails, it opens
/// again.
///
/// - A failure is one of the policy's statuses (even if the target accepts it), a connection error, or a call that
///   takes longer than the policy's `slowCallThreshold`. A call doesn't count if it was cancelled, exceeded a
///   `CallTimeout.wholeCall`, wasn't sent, or failed for an unrelated reason; another probe is then admitted.
/// - The request of a redirect counts for its own server. Calls that share an exchange count once, when it ends. Cached
///   responses don't count. A stream whose body fails counts as a failure when it ends.
/// - A refresh of an `AuthenticationPlugin` passes a half-open circuit without counting as a probe, because the call
///   that waits for it may be the only allowed one.
/// - Calls that were sent before the circuit last changed don't count when they end, except streams whose body fails.
/// - A rejected call ends without a retry, even if the circuit opened during the delay of a `RetryPlugin`. A
///   ``HostFailoverPlugin`` sends it to another host.
///
/// You can also open a circuit yourself, for example during maintenance of the server, and close it again:
///
/// ```swift
/// breaker.isolate("https://shop.example")
/// breaker.reset("https://shop.example")
/// ```
///
/// Several providers can use the same plugin. Copies share the circuits.
public struct CircuitBreakerPlugin: Plugin {
    /// The admission of an attempt to a circuit.
    private struct Admission: Sendable {
        let key: String
        /// The requested URL.
        let url: URL?
        let admission: Circuit.Admission
    }

    private let policy: CircuitBreakerPolicy
    private let key: @Sendable (URLRequest, any TargetType) -> String?
    private let clock: any Clock<Duration>
    private let elapsedTime: ElapsedTime
    private let registry: OrderedCallback<CircuitRegistry, CircuitChange>
    private let states: CircuitStates
    private let permits = PluginStorage<Permit<Admission>>()

    /// Creates a plugin whose circuits are all closed.
    ///
    /// - Parameters:
    ///   - policy: The conditions for opening a circuit; default: `CircuitBreakerPolicy()`.
    ///   - clock: Measures the policy's times; default: the continuous clock.
    ///   - onChange: Called with the key and the new state after each change of a circuit, in order, on any thread. A
    ///     change from open to half-open is reported with the first call that is sent. An idle circuit may be reported
    ///     as closed when many other servers are called. Default: does nothing.
    ///   - key: Returns the key of a request's circuit; `nil` for requests that aren't counted or rejected. Default:
    ///     the server's scheme, host and port, for example `https://shop.example`.
    public init(
        policy: CircuitBreakerPolicy = CircuitBreakerPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: @escaping @Sendable (_ key: String, _ state: CircuitState) -> Void = { _, _ in },
        key: (@Sendable (URLRequest, any TargetType) -> String?)? = nil
    ) {
        self.policy = policy
        self.key = key ?? { request, _ in request.url.flatMap(ServerOrigin.init)?.description }
        self.clock = clock
        elapsedTime = ElapsedTime(clock)
        let states = CircuitStates()
        self.states = states
        registry = OrderedCallback(CircuitRegistry(policy)) { change in
            states.note(change)
            onChange(change.key, change.state)
        }
    }

    /// The state of a circuit; `.closed` before its first call.
    ///
    /// - Parameter key: The result of the plugin's key closure, by default for example `https://shop.example`.
    public func state(of key: String) -> CircuitState {
        let time = elapsedTime.current
        return registry.update { registry, _ in registry.circuit(key).state(at: time) }
    }

    /// A sequence of the current state of a circuit and all later ones. An open circuit is half-open after its time,
    /// even before a call is sent.
    ///
    /// A slow reader receives only the latest state. The sequence ends when its task is cancelled, or when the plugin
    /// and its copies are released. Each reader needs a separate sequence, so call the method again.
    ///
    /// - Parameter key: The result of the plugin's key closure, by default for example `https://shop.example`.
    public func states(of key: String) -> AsyncStream<CircuitState> {
        states.values(
            of: key,
            circuit: { [weak registry, elapsedTime] in
                let time = elapsedTime.current
                return registry?.update { registry, _ in
                    let circuit = registry.circuit(key)
                    return (circuit.state(at: time), circuit.remaining(at: time))
                }
            },
            wait: { [clock] in try await clock.wait(for: $0) }
        )
    }

    /// Closes an open or isolated circuit, and discards its counts. Calls in flight no longer count.
    ///
    /// - Parameter key: The result of the plugin's key closure, by default for example `https://shop.example`.
    public func reset(_ key: String) {
        change(key) { $0.reset() }
    }

    /// Rejects all calls of a circuit until ``reset(_:)``.
    ///
    /// - Parameter key: The result of the plugin's key closure, by default for example `https://shop.example`.
    public func isolate(_ key: String) {
        registry.update { registry, changes in registry.isolate(key, changes: &changes) }
    }

    /// The state of the circuit of a URL's server; `.closed` for a URL without one.
    public func state(of url: URL) -> CircuitState {
        ServerOrigin(url).map { state(of: $0.description) } ?? .closed
    }

    /// `PluginPlace.admission`.
    public var place: PluginPlace { .admission }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.exchange, .didReceive, .didFinish] }

    /// Admits or rejects the request.
    ///
    /// - Throws: `TargetKitError` with `CircuitOpenError`.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        // The server of a redirect responded.
        context[permits]?.end(.worked)
        guard let key = key(request.urlRequest, context.target) else { return try await next(request) }
        let (time, isRefresh) = (elapsedTime.current, RefreshTask.isCurrent)
        let decision = registry.update { registry, changes in
            registry.admit(to: key, isRefresh: isRefresh, at: time, changes: &changes)
        }
        switch decision {
        case .admitted(let admission):
            let permit = permit(Admission(key: key, url: request.urlRequest.url, admission: admission))
            if policy.slowCallThreshold != nil { permit.sentAt = time }
            context[permits] = permit
        case .exempt: break
        case .refused(let remaining):
            let error = CircuitOpenError(key: key, remaining: remaining, isIsolated: state(of: key) == .isolated)
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        let permit = context[permits]
        do {
            let response = try await next(request)
            // Counted even if the call returns a cached response instead, or is retried.
            if policy.statuses.contains(response.head.statusCode) { permit?.end(.failed) }
            return response
        } catch let error as URLError where policy.errorCodes.contains(error.code) {
            permit?.end(.failed)
            throw error
        }
    }

    /// Counts the result of the attempt.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard let permit = context[permits] else { return }
        let verdict = policy.verdict(on: AttemptOutcome(result), of: permit.value.url)
        permit.end(verdict == .worked && isSlow(permit, response: result.parts.response) ? .failed : verdict)
    }

    /// Whether the server was too slow. The waits of other plugins are included only if the transport doesn't measure
    /// its own time.
    private func isSlow(_ permit: Permit<Admission>, response: Response?) -> Bool {
        guard let limit = policy.slowCallThreshold, let start = permit.sentAt else { return false }
        return response?.metrics?.total ?? (elapsedTime.current - start) > limit
    }

    /// Counts a stream whose body failed, and releases the permit of a call that wasn't sent. A shared exchange retains
    /// the permit until it ends.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        if let held = context[permits]?.value, policy.countsBodyFailure(of: call, from: held.url) {
            let time = elapsedTime.current
            change(held.key) { $0.streamFailed(held.admission, at: time) }
        }
        context[permits] = nil
    }

    private func permit(_ admission: Admission) -> Permit<Admission> {
        Permit(admission) { [registry, elapsedTime] held, verdict in
            let time = elapsedTime.current
            registry.update { registry, changes in
                registry.change(held.key, changes: &changes) { $0.ended(held.admission, verdict: verdict, at: time) }
            }
        }
    }

    /// Changes a circuit, and reports its new state.
    private func change(_ key: String, body: @Sendable (inout Circuit) -> Void) {
        registry.update { registry, changes in registry.change(key, changes: &changes, body) }
    }
}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Sends calls to another host when the current host fails.
///
/// ```swift
/// HostFailoverPlugin(hosts: [main, reserve]) { host in log.note("orders now at \(host)") }
/// ```
///
/// The plugin replaces the scheme, host and port of each request with those of ``currentHost``, which initially is the
/// first one in the list. The path and query aren't changed. When a host fails according to the ``HostFailoverPolicy``,
/// all calls use the next one; the first host follows the last. Calls that fail at the same time change the host only
/// once.
///
/// - A call that fails on a host is immediately sent to a host that it hasn't tried. After trying all hosts, it ends
///   with its last result.
/// - If no connection was made (the name wasn't found, the connection was refused, or the TLS handshake failed), any
///   call is sent to the next host. Otherwise, the server may have processed the request, so only calls with an
///   idempotent method (RFC 9110 §9.2.2) or an `Idempotency-Key` are sent again. Other calls end with the failure, but
///   later calls use the next host.
/// - Some time after its failure, the first host is tried again with one call that is safe to retry, and used again if
///   that succeeds.
/// - If the body of a stream fails, later calls use the next host.
/// - A failure after a redirect to another server doesn't count.
///
/// Tokens, cookies and all other header fields of a request are sent to each host in the list, so list only trusted
/// hosts. A server can't add a host.
///
/// A plugin has one list. For several lists, use several plugins, each for the targets that its `where` selects.
/// Several providers can use the same plugin. Copies share the current host.
public struct HostFailoverPlugin: Plugin {
    /// The reason why no host could be assigned to a call.
    package enum Problem: Error, Sendable, Hashable {
        /// A URL in the list isn't http or https, or has no host.
        case unusableHost(URL)
        /// The request's URL has no host to replace.
        case unusableRequest
    }

    private let hosts: [HostAddress]
    private let problem: Problem?
    private let policy: HostFailoverPolicy
    private let isMeant: @Sendable (any TargetType) -> Bool
    private let elapsedTime: ElapsedTime
    private let pool: OrderedCallback<HostPool, Int>
    private let calls = PluginStorage<HostPool.Call>()
    private let probes = PluginStorage<Permit<Void>>()

    /// Creates a plugin for a list of hosts.
    ///
    /// - Parameters:
    ///   - hosts: URLs whose scheme, host and port are used, in order of preference. Their paths are ignored. If the
    ///     list is empty, the plugin does nothing. If a URL has no host, each call fails with stage `.request`.
    ///   - policy: Determines when a host has failed; default: `HostFailoverPolicy()`.
    ///   - clock: Measures the time until the first host is tried again; default: the continuous clock.
    ///   - onMove: Called with each new ``currentHost``, in order, on any thread; default: does nothing.
    ///   - isMeant: Returns whether a target's calls use these hosts, for a provider whose targets belong to several
    ///     servers; default: all do. For a `MultiTarget`, it receives the wrapped target.
    public init(
        hosts: [URL],
        policy: HostFailoverPolicy = HostFailoverPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        onMove: @escaping @Sendable (_ host: URL) -> Void = { _ in },
        where isMeant: @escaping @Sendable (any TargetType) -> Bool = { _ in true }
    ) {
        let addresses = hosts.map(HostAddress.init)
        self.hosts = addresses.compactMap { $0 }
        problem = zip(hosts, addresses).first { $0.1 == nil }.map { .unusableHost($0.0) }
        self.policy = policy
        self.isMeant = isMeant
        elapsedTime = ElapsedTime(clock)
        pool = OrderedCallback(HostPool(count: hosts.count, probeAfter: policy.probeAfter)) { onMove(hosts[$0]) }
    }

    /// The current host's URL in the list; `nil` if the list is empty.
    public var currentHost: URL? {
        let current = pool.update { pool, _ in pool.current }
        return hosts.indices.contains(current) ? hosts[current].url : nil
    }

    /// `PluginPlace.failover`.
    public var place: PluginPlace { .failover }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .exchange, .didReceive, .retry, .didFinish] }

    /// Replaces the host of the request.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard isMeant(context.target) else { return request }
        if let problem { throw problem }
        guard !hosts.isEmpty else { return request }
        let (isAvailable, time, mayProbe) = (availability, elapsedTime.current, request.isRepeatable())
        let last = context[calls] ?? HostPool.Call()
        let call = change { $0.nextAttempt(of: last, mayProbe: mayProbe, isAvailable: isAvailable, at: time) }
        context[calls] = call
        if call.isProbe {
            context[probes] = Permit(()) { [pool, elapsedTime] _, verdict in
                let time = elapsedTime.current
                pool.update { pool, _ in pool.endProbe(delaysNext: verdict == .failed, at: time) }
            }
        }
        guard let url = request.url.flatMap(hosts[call.host].moving) else { throw Problem.unusableRequest }
        context[ReplicaHostsKey.self] = ReplicaHosts(hosts)
        var request = request
        request.url = url
        return request
    }

    /// Sends a request that a ``CircuitBreakerPlugin`` rejects to the next host.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        // An error of another plugin means that the request wasn't sent.
        var isSent = true
        defer { if isSent, context[calls]?.isProbe == true { context[probes]?.sentAt = elapsedTime.current } }
        do {
            let response = try await next(request)
            if Response.processingRedirects.contains(response.head.statusCode) { context[calls]?.isProcessed = true }
            return response
        } catch let error as TargetKitError {
            isSent = false
            guard let refusal = error.underlying as? CircuitOpenError, var call = context[calls],
                request.urlRequest.url.flatMap(ServerOrigin.init) == ServerOrigin(hosts[call.host].url)
            else { throw error }
            if call.isProbe { context[probes]?.end(.failed) }
            call.refused()
            context[calls] = call
            guard move(call, isSafe: !call.isProcessed || context.isRepeatable, context) else { throw error }
            // Doesn't end the call, because `retry` sends it to the next host.
            throw refusal
        }
    }

    /// Changes the host after a failure, and returns to the first host after it has responded.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard let call = context[calls] else { return }
        let (verdict, time) = (verdict(on: AttemptOutcome(result), of: call), elapsedTime.current)
        context[calls] = change { $0.ended(call, verdict: verdict, at: time) }
        // The pool has counted the failure. A probe that wasn't sent ends with the call.
        if call.isProbe, context[probes]?.sentAt != nil { context[probes]?.end(.nothing) }
    }

    /// Requests another attempt with the next host.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard let call = context[calls] else { return .doNotRetry }
        if result.isRefused { return call.isMoved ? .retry(after: .zero) : .doNotRetry }
        let outcome = AttemptOutcome(result)
        guard verdict(on: outcome, of: call) == .failed else { return .doNotRetry }
        let wasUnsent =
            outcome.code.map { URLError.Code.beforeSending.contains($0) && !outcome.isBehindRedirect }
            ?? policy.movesNonIdempotentCallsOnStatus
        return move(call, isSafe: wasUnsent || context.isRepeatable, context) ? .retry(after: .zero) : .doNotRetry
    }

    /// Selects the host of the next attempt; returns `false` if there is none.
    private func move(_ call: HostPool.Call, isSafe: Bool, _ context: RequestContext) -> Bool {
        let isAvailable = availability
        let moved = pool.update { pool, _ in pool.moved(call, isSafe: isSafe, isAvailable: isAvailable) }
        guard let moved else { return false }
        context[calls] = moved
        return true
    }

    /// Changes the host if the body of a stream failed, and lets another call try the first host if this one wasn't
    /// sent.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        if let attempt = context[calls], policy.countsBodyFailure(of: call, from: hosts[attempt.host].url) {
            let time = elapsedTime.current
            change { _ = $0.ended(attempt, verdict: .failed, at: time) }
        }
        guard let probe = context[probes], probe.sentAt == nil else { return }
        // Unless this call was cancelled or returned a cached response, other immediate attempts would have the same
        // result.
        let isUndecided = if case .success = call.result { true } else { AttemptOutcome(call.result).isInterrupted }
        probe.end(isUndecided ? .nothing : .failed)
    }

    private func verdict(on outcome: AttemptOutcome, of call: HostPool.Call) -> Verdict {
        policy.verdict(on: outcome, of: hosts[call.host].url)
    }

    private var availability: [Bool] { hosts.map { policy.isAvailable?($0.url) != false } }

    /// Changes the pool, and reports a new host.
    @discardableResult
    private func change<Value: Sendable>(_ body: @Sendable (inout HostPool) -> Value) -> Value {
        pool.update { pool, moves in
            let before = pool.current
            let value = body(&pool)
            if pool.current != before { moves.append(pool.current) }
            return value
        }
    }
}

extension Result<Response, TargetKitError> {
    /// Whether a circuit breaker rejected the call.
    fileprivate var isRefused: Bool {
        if case .failure(let error) = self { error.underlying is CircuitOpenError } else { false }
    }
}

extension HostFailoverPlugin.Problem: DescribedError {
    /// The problem in one line, without the user and the query of a URL.
    package var redactedDescription: String {
        switch self {
        case .unusableHost(let url): "\(RedactedURL(url)) in the list of hosts has no http or https scheme, or no host"
        case .unusableRequest: "the request has no URL with a host to replace"
        }
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends calls to another host when the one that is used does not serve.
///
/// ```swift
/// HostFailoverPlugin(for: Orders.self, hosts: [main, reserve]) { host in log.note("orders now at \(host)") }
/// ```
///
/// The plugin replaces scheme, host and port of each request by those of ``currentHost``, at first the first of the list; path and
/// query stay as they are. A host that fails by the ``HostFailoverPolicy`` is left for the next one, round in a circle, which is
/// then used by all calls. Calls that fail together on one host leave it once, not several hosts further.
///
/// - A call that has failed on a host goes on at once to one that it has not tried; when it has tried all, its last result stands.
/// - When no connection came about (the name was not found, it was refused, TLS was not agreed), any call moves. Otherwise the
///   server may have done what it was asked for, and only calls move that may arrive twice: those of idempotent methods
///   (RFC 9110 §9.2.2) and those with an `Idempotency-Key`. Other callers get the failure; their next call goes to the next host.
/// - Some time after its failure the first host is tried again, by one call that may arrive twice, and used again if it works.
/// - What comes after a redirect to another server is not this host's doing.
///
/// Tokens, cookies in header fields and whatever else a request carries go to each host of the list: name only hosts that may
/// see them. Nothing that a server says adds a host.
///
/// Order: before plugins that look at the URL (a ``CircuitBreakerPlugin``, a signature) and before a ``RetryPlugin``, so that
/// the next host is tried before there is a wait.
///
/// A plugin has one list; several lists are several plugins, each for its target type. One plugin may serve any number of
/// providers; copies of it share what they know.
public struct HostFailoverPlugin: Plugin {
    /// Why a call could not be given a host.
    package enum Problem: Sendable, Hashable, LocalizedError, DeveloperError {
        /// That URL of the list is not http or https, or has no host.
        case unusableHost(URL)
        /// The request's URL has no host that could be replaced.
        case unusableRequest

        /// The problem in one line, for the developer.
        package var errorDescription: String? {
            switch self {
            case .unusableHost(let url):
                "\(RedactedURL(url)) in the list of hosts has no http or https scheme, or no host"
            case .unusableRequest: "the request has no URL with a host to replace"
            }
        }
    }

    private let hosts: [HostAddress]
    private let problem: Problem?
    private let policy: HostFailoverPolicy
    private let isMeant: @Sendable (any TargetType) -> Bool
    private let elapsedTime: ElapsedTime
    private let pool: OrderedCallback<HostPool, Int>

    /// A plugin for the calls of one target type; in a `MultiTarget` the inner one counts.
    ///
    /// - Parameters:
    ///   - type: The target type; calls of others are left alone.
    ///   - hosts: URLs whose scheme, host and port are used, the favourite first; their paths do not count. With an empty list
    ///     the plugin does nothing. A URL without a host fails each call, with stage `.request`.
    ///   - policy: When a host is left; default: that of `HostFailoverPolicy()`.
    ///   - clock: What the time until the first host is tried again is measured by; default the continuous clock.
    ///   - onMove: Is told of each new ``currentHost``, in order, on any thread; default: nobody is.
    public init<Target: TargetType>(
        for type: Target.Type,
        hosts: [URL],
        policy: HostFailoverPolicy = HostFailoverPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        onMove: @escaping @Sendable (_ host: URL) -> Void = { _ in }
    ) {
        self.init(hosts: hosts, policy: policy, clock: clock, where: { $0 is Target }, onMove: onMove)
    }

    /// A plugin for the calls that a closure chooses, as the one for a target type does.
    ///
    /// - Parameters:
    ///   - hosts: As for a target type.
    ///   - policy: As for a target type.
    ///   - clock: As for a target type.
    ///   - isMeant: Whether a target's calls go to these hosts; default: all do.
    ///   - onMove: As for a target type.
    public init(
        hosts: [URL],
        policy: HostFailoverPolicy = HostFailoverPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        where isMeant: @escaping @Sendable (any TargetType) -> Bool = { _ in true },
        onMove: @escaping @Sendable (_ host: URL) -> Void = { _ in }
    ) {
        let addresses = hosts.map(HostAddress.init)
        self.hosts = addresses.compactMap { $0 }
        problem = zip(hosts, addresses).first { $0.1 == nil }.map { .unusableHost($0.0) }
        self.policy = policy
        self.isMeant = isMeant
        elapsedTime = ElapsedTime(clock)
        pool = OrderedCallback(HostPool(count: hosts.count, probeAfter: policy.probeAfter)) { onMove(hosts[$0]) }
    }

    /// The host that calls go to now, as it stands in the list; `nil` with an empty list.
    public var currentHost: URL? {
        let current = pool.update { pool, _ in pool.current }
        return hosts.indices.contains(current) ? hosts[current].url : nil
    }

    /// Leads the request to the host.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard isMeant(context.target) else { return request }
        if let problem { throw problem }
        guard !hosts.isEmpty else { return request }
        let isAvailable = availability
        let (time, mayProbe) = (elapsedTime.current, request.isSafeToRepeat)
        let host = change { pool in
            pool.host(
                for: context.id,
                isFirstAttempt: context.attempt == 0,
                mayProbe: mayProbe,
                isAvailable: isAvailable,
                at: time
            )
        }
        guard let url = request.url.flatMap(hosts[host].moving) else { throw Problem.unusableRequest }
        var request = request
        request.url = url
        return request
    }

    /// Takes note of whether the request may arrive twice.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        change { $0.sends(context.id, isSafeToRepeat: request.isSafeToRepeat) }
    }

    /// Leaves a host that has failed, and comes back to the first one when it has answered.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let (verdict, time) = (verdict(on: AttemptOutcome(result), context), elapsedTime.current)
        change { $0.ended(context.id, verdict, at: time) }
    }

    /// Asks for an attempt at the next host.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        let outcome = AttemptOutcome(result)
        guard verdict(on: outcome, context) == .failed else { return .doNotRetry }
        let wasUnsent =
            outcome.code.map { ConnectionFailure.beforeSending.contains($0) && !outcome.isBehindRedirect }
            ?? policy.movesUnsafeCallsOnStatus
        let isAvailable = availability
        return change { $0.moves(context.id, wasUnsent: wasUnsent, isAvailable: isAvailable) }
            ? .retry(after: .zero) : .doNotRetry
    }

    /// Forgets the call.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let (isInterrupted, time) = (AttemptOutcome(result).isInterrupted, elapsedTime.current)
        change { $0.forget(context.id, isInterrupted: isInterrupted, at: time) }
        return result
    }

    private func verdict(on outcome: AttemptOutcome, _ context: RequestContext) -> HostPool.Verdict {
        guard !outcome.isInterrupted else { return .nothing }
        if let status = outcome.status {
            guard policy.statuses.contains(status) else { return .worked }
        } else {
            guard let code = outcome.code, policy.errorCodes.contains(code) else { return .nothing }
        }
        guard let host = pool.update({ pool, _ in pool.host(of: context.id) }) else { return .nothing }
        return outcome.isElsewhere(than: hosts[host].url) ? .worked : .failed
    }

    private var availability: [Bool] {
        hosts.map { policy.isAvailable?($0.url) ?? true }
    }

    /// Changes the pool, and tells of a new host.
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

extension HostFailoverPlugin.Problem: CustomStringConvertible, CustomReflectable {
    /// The error in one line.
    package var description: String { errorDescription ?? "" }

    /// Reflects only the description, so `dump` omits the user and query of a URL.
    package var customMirror: Mirror { Mirror(describing: self) }
}

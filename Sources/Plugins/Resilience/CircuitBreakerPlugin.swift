// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Holds calls back from a server that fails, so that people get an answer at once and the server gets time to recover.
///
/// ```swift
/// let breaker = CircuitBreakerPlugin { change in log.note("\(change.key) is \(change.to)") }
/// ```
///
/// Each server has a circuit of its own. It is *closed* at first, and calls go through. When enough of them have failed within a
/// while (``CircuitBreakerPolicy``), it *opens*: calls end at once with ``CircuitOpenError``, which says until when. After that time
/// it is *half open*: a few calls are let through, the others are still held back. When those work, it closes; when one of them
/// fails, it opens again.
///
/// - A failure is a status of the policy, whether the target validates it or not, or a connection that fails. A call that was
///   cancelled counts neither way, nor does one whose `CallTimeout.wholeCall` is over, which its caller has set, nor one that
///   was not sent or failed for a reason of its own; each gives its place in a half-open circuit back. So does what happens
///   after a redirect to another server: the one that was asked has answered.
/// - A refresh of an ``AuthenticationPlugin`` passes a half-open circuit without a place, and does not count there: the call that
///   waits for it may have the only one.
/// - Calls that were let through before the circuit last changed do not count when they end.
/// - ``CircuitOpenError`` comes from `prepare`, before the call is sent, so no plugin's `retry` is asked: it is not tried again by
///   itself, and a call that a ``RetryPlugin`` repeats ends when the circuit has opened during its wait.
///
/// Order: after a ``HostFailoverPlugin``, so that the circuit is that of the host it has chosen, and before plugins whose work
/// would be in vain for a call that is held back (a token that has to be renewed). Before or after a ``RetryPlugin``: each
/// attempt counts.
///
/// One plugin may serve any number of providers; copies of it share what they know.
public struct CircuitBreakerPlugin: Plugin {
    private let policy: CircuitBreakerPolicy
    private let key: @Sendable (URLRequest, any TargetType) -> String?
    private let now: @Sendable () -> Date
    private let elapsedTime: ElapsedTime
    private let registry: OrderedCallback<CircuitRegistry, CircuitChange>

    /// A plugin whose circuits are all closed.
    ///
    /// - Parameters:
    ///   - policy: When a circuit opens, and for how long; default: that of `CircuitBreakerPolicy()`.
    ///   - clock: What its times are measured by; default the continuous clock.
    ///   - onChange: Is told of each change, in order, on any thread. That an open circuit has become half open is told with the
    ///     first call that it lets through; that it is closed, also when none has come for long and another one needs its room.
    ///     Default: nobody is told.
    ///   - key: The circuit of a request; `nil`: the request is not counted and never held back. Default: its server,
    ///     by scheme, host and port, for example `https://shop.example`.
    ///   - now: The time of day, for ``CircuitOpenError/until``.
    public init(
        policy: CircuitBreakerPolicy = CircuitBreakerPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: @escaping @Sendable (_ change: CircuitChange) -> Void = { _ in },
        key: (@Sendable (URLRequest, any TargetType) -> String?)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.policy = policy
        self.key = key ?? { request, _ in request.url.flatMap(ServerOrigin.init)?.description }
        self.now = now
        elapsedTime = ElapsedTime(clock)
        registry = OrderedCallback(CircuitRegistry(policy), callback: onChange)
    }

    /// The state of a circuit; one that no call has asked for yet is closed.
    ///
    /// - Parameter key: `https://shop.example`, or what the plugin's key closure says.
    public func state(of key: String) -> CircuitState {
        let time = elapsedTime.current
        return registry.update { registry, _ in registry.circuit(key).state(at: time) }
    }

    /// The state of the circuit of a URL's server; `.closed` for a URL without one.
    public func state(of url: URL) -> CircuitState {
        ServerOrigin(url).map { state(of: $0.description) } ?? .closed
    }

    /// Whether a call to a URL's server would be let through now; for ``HostFailoverPolicy/isAvailable``.
    public func admits(_ url: URL) -> Bool {
        guard let origin = ServerOrigin(url) else { return true }
        let time = elapsedTime.current
        return registry.update { registry, _ in registry.circuit(origin.description).admits(at: time) }
    }

    /// Lets the call through.
    ///
    /// - Throws: ``CircuitOpenError``.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let key = key(request, context.target) else { return request }
        let (url, time, isRefresh) = (request.url, elapsedTime.current, !RefreshTask.current.isEmpty)
        let remaining = change(key) { $0.admit(context, to: key, url, isRefresh: isRefresh, at: time) }
        guard let remaining else { return request }
        throw CircuitOpenError(key: key, remaining: remaining, until: now().addingTimeInterval(remaining / .seconds(1)))
    }

    /// Counts how the attempt ended.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard let call = registry.update({ registry, _ in registry.call(context.id) }) else { return }
        let (verdict, time) = (verdict(on: AttemptOutcome(result), call), elapsedTime.current)
        change(call.key) { $0.ended(context.id, verdict, at: time) }
    }

    /// Forgets the call.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let time = elapsedTime.current
        registry.update { registry, _ in registry.forget(context.id, at: time) }
        return result
    }

    private func verdict(on outcome: AttemptOutcome, _ call: CircuitRegistry.Call) -> Circuit.Verdict {
        guard !outcome.isInterrupted else { return .nothing }
        if let status = outcome.status {
            guard policy.statuses.contains(status) else { return .worked }
        } else {
            guard let code = outcome.code, policy.errorCodes.contains(code) else { return .nothing }
        }
        return outcome.isElsewhere(than: call.url) ? .worked : .failed
    }

    /// Changes the registry, and tells of it when that circuit's state is another one.
    @discardableResult
    private func change<Value: Sendable>(
        _ key: String,
        _ body: @Sendable (inout CircuitRegistry) -> Value
    ) -> Value {
        registry.update { registry, changes in
            let before = registry.circuit(key).settledState
            let value = body(&registry)
            changes += registry.takeForgotten()
            let after = registry.circuit(key).settledState
            if before != after { changes.append(CircuitChange(key: key, from: before, to: after)) }
            return value
        }
    }
}

/// A call that was not sent, because those before it have failed: the `underlying` error, with stage `.request` and kind
/// `.server`, when a ``CircuitBreakerPlugin`` holds calls back.
///
/// It is not tried again by itself, since it failed before it was sent. Trying it again before ``until`` brings the same.
///
/// ```swift
/// catch {
///     if let open = error.underlying as? CircuitOpenError { banner.show(until: open.until) }
/// }
/// ```
public struct CircuitOpenError: Error, Sendable, Hashable {
    /// Whose circuit it is: `https://shop.example`, or what the plugin's key closure says.
    public let key: String
    /// How long calls are still held back; zero while it is being seen whether the server works again.
    public let remaining: Duration
    /// The time of day at which the next call is let through.
    public let until: Date

    package init(key: String, remaining: Duration, until: Date) {
        self.key = key
        self.remaining = remaining
        self.until = until
    }
}

extension CircuitOpenError: DescribedError, ErrorWithKind {
    /// What happened, in one line for the developer.
    public var description: String {
        let words = "calls to \(key) are held back, since those before have failed"
        guard remaining > .zero else { return words + "; it is being seen whether they work again" }
        return words + "; the next is let through in \(remaining.wholeSeconds) s"
    }

    /// The service is unavailable, for now.
    package var kind: TargetKitError.Kind { .server }

    /// Service Unavailable (RFC 9110 §15.6.4).
    package var statusCode: Int? { 503 }
}

extension Duration {
    /// Rounded up, so that nothing that remains is zero.
    fileprivate var wholeSeconds: Int64 {
        let (seconds, attoseconds) = LongestWait.limited(self).components
        return seconds + (attoseconds > 0 ? 1 : 0)
    }
}

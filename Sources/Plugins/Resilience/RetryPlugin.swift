// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tries a call again that has failed for a reason which may be gone in a moment.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [RetryPlugin()])
/// ```
///
/// - What is tried again, and how often, is in the ``RetryPolicy``; a ``RetryingTarget`` has its own. A status counts whether
///   the target validates it or not.
/// - Only calls are repeated that do no harm when they arrive twice: those of idempotent methods (RFC 9110 §9.2.2), and those
///   that carry an `Idempotency-Key`, by their headers or as an ``IdempotentTarget``. This holds also where the failure says that
///   nothing was sent.
/// - The wait is a random time between zero and a bound that doubles with each repetition, so that those who failed together do
///   not come back together. A server that says `Retry-After` is given exactly that time instead; one that says more than
///   ``RetryPolicy/retryAfterLimit`` is not asked again, and the caller gets what it said.
/// - The repetitions of a scope stay within a ``RetryBudget``.
/// - A call that was cancelled is not repeated, nor one that failed before it was sent. The wait runs on the provider's clock,
///   and a cancel ends it.
/// - Every body of TargetKit can be sent again; a source that cannot be opened a second time ends the call with its own error.
///
/// Order: last among the plugins that repeat calls, so that a token is renewed and another host is tried before there is a wait.
///
/// One plugin may serve any number of providers; copies of it share their budget.
public struct RetryPlugin: Plugin {
    private struct Call: Sendable {
        let key: String?
        var isRepeatable = false
        var repetitions = 0
    }

    private struct State: Sendable {
        var tracker: RetryTracker
        /// Begun in the first `prepare` and nowhere else: a shared exchange goes on when the call that began it was cancelled and
        /// has been to `process`, and what is kept for it then would stay for ever.
        var calls: [RequestContext.ID: Call] = [:]
    }

    private let policy: RetryPolicy
    private let now: @Sendable () -> Date
    private let elapsedTime: ElapsedTime
    private let state: Locked<State>
    /// Under a lock of its own: drawing a number changes it, so two threads cannot do that at once. Nothing else waits for it.
    private let generator: Locked<any RandomNumberGenerator & Sendable>

    /// A plugin that tries calls again.
    ///
    /// - Parameters:
    ///   - policy: What is tried again; default: that of `RetryPolicy()`.
    ///   - budget: How many repetitions there may be in all; default: that of `RetryBudget()`.
    ///   - clock: What the budget's window is measured by; default the continuous clock. The waits are the provider's.
    ///   - generator: Where the random part of the wait comes from; default the system's. It is asked by one thread at a time,
    ///     under a lock: its `next()` should not wait for anything.
    ///   - now: The time of day, which a `Retry-After` with a date is compared with where the response has no `Date`.
    public init(
        policy: RetryPolicy = RetryPolicy(),
        budget: RetryBudget = RetryBudget(),
        clock: any Clock<Duration> = ContinuousClock(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.policy = policy
        self.now = now
        elapsedTime = ElapsedTime(clock)
        state = Locked(State(tracker: RetryTracker(budget)))
        self.generator = Locked(generator)
    }

    /// Adds the key of an ``IdempotentTarget``, unless the request has one.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        let known = state.withLock { $0.calls[context.id] }
        let call = known ?? Call(key: (context.target as? any IdempotentTarget)?.idempotencyKey)
        if context.attempt == 0 { state.withLock { $0.calls[context.id] = call } }
        let name = HTTPHeaderName.idempotencyKey.rawValue
        guard let key = call.key, !key.isEmpty, request.value(forHTTPHeaderField: name) == nil else { return request }
        guard !key.endsHeaderField else { throw InvalidRequest.invalidHeaderValue(name: name) }
        var request = request
        request.setValue(key, forHTTPHeaderField: name)
        return request
    }

    /// Counts the call, and takes note of whether it may arrive twice.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let isRepeatable = isRepeatable(request, by: policy(of: context.target))
        let time = elapsedTime.current
        state.withLock { state in
            state.calls[context.id]?.isRepeatable = isRepeatable
            if context.attempt == 0 { state.tracker.countCall(in: context.scope, at: time) }
        }
    }

    /// Asks for another attempt.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        let policy = policy(of: context.target)
        let outcome = AttemptOutcome(result)
        guard !outcome.isInterrupted, isTransient(outcome, by: policy) else { return .doNotRetry }
        let asked = outcome.status == nil ? nil : RetryAfter.delay(in: result.headers, now: now())
        if let asked, asked > policy.retryAfterLimit { return .doNotRetry }
        let time = elapsedTime.current
        let known = state.withLock { $0.calls[context.id] }
        let call = known ?? unknown(outcome.request, context, policy)
        guard call.isRepeatable, call.repetitions + 1 < policy.attempts else { return .doNotRetry }
        let isGranted = state.withLock { state in
            guard state.tracker.takeRepetition(in: context.scope, at: time) else { return false }
            state.calls[context.id]?.repetitions += 1
            return true
        }
        guard isGranted else { return .doNotRetry }
        if let asked, asked > .zero { return .retry(after: min(asked, LongestWait.year)) }
        let share = generator.withLock { Double.random(in: 0...1, using: &$0) }
        return .retry(after: policy.longestDelay(before: call.repetitions) * share)
    }

    /// Forgets the call.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        state.withLock { $0.calls[context.id] = nil }
        return result
    }

    private func policy(of target: any TargetType) -> RetryPolicy {
        (target as? any RetryingTarget)?.retryPolicy ?? policy
    }

    private func isTransient(_ outcome: AttemptOutcome, by policy: RetryPolicy) -> Bool {
        if let status = outcome.status { return policy.statuses.contains(status) }
        return outcome.code.map(policy.errorCodes.contains) ?? false
    }

    private func isRepeatable(_ request: URLRequest, by policy: RetryPolicy) -> Bool {
        request.hasIdempotencyKey || policy.methods.contains(request.method)
    }

    /// A shared exchange whose first caller has gone: the request behind redirects is all that is known of it.
    private func unknown(_ request: URLRequest?, _ context: RequestContext, _ policy: RetryPolicy) -> Call {
        let isMeantSo = policy.methods.contains(context.target.method)
        let isSentSo = request.map { isRepeatable($0, by: policy) } ?? false
        return Call(key: nil, isRepeatable: isMeantSo && isSentSo, repetitions: context.attempt)
    }
}

extension Result<Response, TargetKitError> {
    fileprivate var headers: HTTPHeaders {
        switch self {
        case .success(let response): response.headers
        case .failure(let error): error.response?.headers ?? [:]
        }
    }
}

/// A target whose calls carry a key by which the server knows a repetition, so that a POST can be sent again.
///
/// A ``RetryPlugin`` asks for it once for each call, and sends it as `Idempotency-Key` with every attempt.
///
/// ```swift
/// extension Payments: IdempotentTarget {
///     var idempotencyKey: String? { draft.id.uuidString }
/// }
/// ```
public protocol IdempotentTarget: TargetType {
    /// The key, sent as it is (draft-ietf-httpapi-idempotency-key-header wants it in quotation marks, many servers do not);
    /// `nil` or an empty text: the call carries none. One with CR, LF or NUL ends the call, with stage `.request`.
    ///
    /// It has to be another one for each thing that is to be done, and the same for one that the person starts again: a property
    /// of what is sent rather than a random number that is made here.
    var idempotencyKey: String? { get }
}

/// A target that says by itself whether and how its calls are tried again by a ``RetryPlugin``.
public protocol RetryingTarget: TargetType {
    /// The policy of this call; `nil`: the plugin's own. ``RetryPolicy/never`` for none.
    var retryPolicy: RetryPolicy? { get }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Retries calls after transient failures.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [RetryPlugin()])
/// ```
///
/// - The ``RetryPolicy`` defines which failures are retried, and how often; `CallOptions.retryPolicy` sets another one
///   for a target or a call. A status counts whether the target accepts it or not.
/// - Only calls that are safe to retry are retried, those with an idempotent method (RFC 9110 §9.2.2) or an
///   `Idempotency-Key`, from their header fields or from `CallOptions.idempotencyKey`. That is also so after a failure
///   in which nothing was sent.
/// - The delay is a random time between zero and a bound that doubles with each repetition, so that calls which failed
///   together aren't retried together. A server's `Retry-After` replaces it; if that is longer than the policy's
///   `retryAfterLimit`, the call ends with the server's response. So does a call whose `CallTimeout.wholeCall` would
///   expire during the delay.
/// - The repetitions of a scope are limited by a ``RetryBudget``.
/// - A download or upload that can be continued may be repeated as often again after each attempt that has advanced it
///   by 64 KiB. An upload is also repeated after the status 423, with which a server says that it still processes the
///   interrupted request.
/// - The error of a call has its earlier attempts (`TargetKitError.previousAttempts`).
/// - A call that was cancelled, or failed before it was sent, isn't repeated. The delay is measured by the provider's
///   clock and ends when the call is cancelled.
/// - Calls that share an exchange are repeated together.
/// - All bodies of TargetKit can be sent again; a body source that can't be opened a second time ends the call with
///   its own error.
///
/// One plugin can be used by any number of providers; its copies share their budget.
public struct RetryPlugin: Plugin {
    /// What is known of the attempts of one call.
    fileprivate struct Attempts: Sendable {
        var isRepeatable = false
        var repetitions = 0
        /// `TransferState.continuedByteCount` when the repetitions were last forgotten.
        var byteCount: Int64 = 0
    }

    /// The number of bytes that a transfer has to advance so that its earlier repetitions don't count.
    fileprivate static let progress: Int64 = 64 << 10

    private let policy: RetryPolicy
    private let now: @Sendable () -> Date
    let counter: RetryCounter
    private let shouldRetry: (@Sendable (Result<Response, TargetKitError>, RequestContext) -> Bool?)?
    private let onRetry: @Sendable (FailedAttempt, RequestContext) -> Void
    /// Under a lock of its own: a generator changes when it is used, and no other work waits for it.
    private let generator: Locked<any RandomNumberGenerator & Sendable>
    private let attempts = PluginStorage<Attempts>()

    /// Creates a plugin that repeats calls.
    ///
    /// - Parameters:
    ///   - policy: Which failures are repeated; default: `RetryPolicy()`.
    ///   - budget: How many repetitions a scope may have; default: `RetryBudget()`.
    ///   - clock: Measures the budget's window; default: the continuous clock. Delays are measured by the provider's.
    ///   - generator: Makes the random part of a delay; default: the system's generator. It is used by one thread at a
    ///     time, with a lock held: its `next()` should not wait.
    ///   - now: The time of day, for a `Retry-After` with a date in a response without a `Date`.
    ///   - shouldRetry: Whether the result of an attempt is repeated; `nil`: by the policy's statuses and codes. The
    ///     other conditions stay: the call is safe to repeat, and its attempts, its time and the budget aren't used
    ///     up. Default: the policy decides.
    ///   - onRetry: Called before each delay with the failed attempt and its context; default: does nothing.
    public init(
        policy: RetryPolicy = RetryPolicy(),
        budget: RetryBudget = RetryBudget(),
        clock: any Clock<Duration> = ContinuousClock(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        now: @escaping @Sendable () -> Date = { Date() },
        shouldRetry: (@Sendable (Result<Response, TargetKitError>, RequestContext) -> Bool?)? = nil,
        onRetry: @escaping @Sendable (_ attempt: FailedAttempt, _ context: RequestContext) -> Void = { _, _ in }
    ) {
        self.policy = policy
        self.now = now
        counter = RetryCounter(budget, clock: clock)
        self.shouldRetry = shouldRetry
        self.onRetry = onRetry
        self.generator = Locked(generator)
    }

    /// `PluginPlace.retrying`.
    public var place: PluginPlace { .retrying }

    /// `true`.
    public var isSingle: Bool { true }

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.prepare, .willSend, .retry] }

    /// Adds the call's `idempotencyKey`, unless the request has one.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let key = context.options.idempotencyKey, !key.isEmpty,
            request.value(forHTTPHeaderField: HTTPHeaderName.idempotencyKey.rawValue) == nil
        else { return request }
        var request = request
        try request.setField(.idempotencyKey, to: key)
        return request
    }

    /// Counts the call, and records whether it is safe to repeat.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        var attempts = context[self.attempts] ?? Attempts()
        attempts.isRepeatable = request.isRepeatable(with: (context.options.retryPolicy ?? policy).methods)
        context[self.attempts] = attempts
        if context.attempt == 0 { counter.countCall(in: context.scope) }
    }

    /// Asks for another attempt.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        let policy = context.options.retryPolicy ?? policy
        let outcome = AttemptOutcome(result)
        guard !outcome.isInterrupted,
            shouldRetry?(result, context) ?? isTransient(outcome, context: context, by: policy)
        else {
            return .doNotRetry
        }
        let asked = result.parts.response.flatMap { RetryAfter.delay(in: $0.headers, now: now()) }
        if let asked, asked > policy.retryAfterLimit { return .doNotRetry }
        // A call that shares an exchange has sent nothing itself.
        guard var attempts = context[self.attempts],
            context.transfer?.isRepeatable ?? attempts.isRepeatable,
            attempts.noteProgress(of: context) + 1 < policy.attempts
        else { return .doNotRetry }
        let delay = delay(before: attempts.repetitions, by: policy, asked: asked)
        if let remainingTime = context.remainingTime, delay >= remainingTime { return .doNotRetry }
        guard counter.takeRepetition(in: context.scope) else { return .doNotRetry }
        attempts.repetitions += 1
        context[self.attempts] = attempts
        onRetry(FailedAttempt(result, delay: delay), context)
        return .retry(after: delay)
    }

    /// - Parameter asked: The delay that the server asks for.
    private func delay(before repetition: Int, by policy: RetryPolicy, asked: Duration?) -> Duration {
        if let asked, asked > .zero { return min(asked, LongestWait.year) }
        let share = generator.withLock { Double.random(in: 0...1, using: &$0) }
        return policy.longestDelay(before: repetition) * share
    }

    private func isTransient(_ outcome: AttemptOutcome, context: RequestContext, by policy: RetryPolicy) -> Bool {
        if let status = outcome.status {
            // The server still processes the request that was interrupted.
            let isLocked = status == 423 && context.transfer?.isRepeatable == true && !policy.statuses.isEmpty
            return isLocked || policy.statuses.contains(status)
        }
        return outcome.code.map(policy.errorCodes.contains) ?? false
    }
}

extension RetryPlugin.Attempts {
    /// Forgets earlier repetitions if the transfer has advanced since. Returns the number of repetitions.
    fileprivate mutating func noteProgress(of context: RequestContext) -> Int {
        guard let count = context.transfer?.continuedByteCount else { return repetitions }
        if count - byteCount >= RetryPlugin.progress {
            repetitions = 0
            byteCount = count
        }
        byteCount = min(byteCount, count)
        return repetitions
    }
}

extension CallOptions {
    /// How a `RetryPlugin` repeats the call; default `nil`: by the plugin's policy. `RetryPolicy.never` for no
    /// repetitions.
    public var retryPolicy: RetryPolicy? {
        get { self[RetryPolicyKey.self] }
        set { self[RetryPolicyKey.self] = newValue }
    }

    /// The key by which the server recognizes a repetition of the call, so that a POST can be sent again; default
    /// `nil`: none. A `RetryPlugin` sends it as `Idempotency-Key` with every attempt.
    ///
    /// ```swift
    /// let receipt = try await provider.request(.pay(draft), options: .setting(\.idempotencyKey, draft.id.uuidString))
    /// ```
    ///
    /// It must differ for different operations, and be the same when a person starts one again: use a property of what
    /// is sent, not a random value. It is sent as it is (draft-ietf-httpapi-idempotency-key-header requires quotation
    /// marks, many servers don't). An empty key isn't sent; one with CR, LF or NUL ends the call with stage `.request`.
    public var idempotencyKey: String? {
        get { self[IdempotencyKey.self] }
        set { self[IdempotencyKey.self] = newValue }
    }
}

private enum RetryPolicyKey: CallOptionKey { static let defaultValue: RetryPolicy? = nil }
private enum IdempotencyKey: CallOptionKey { static let defaultValue: String? = nil }

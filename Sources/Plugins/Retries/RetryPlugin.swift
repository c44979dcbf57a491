// SPDX-License-Identifier: MIT
import TargetKit

/// Retries calls after transient failures.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [RetryPlugin()])
/// ```
///
/// - The ``RetryPolicy`` defines which failures are retried, and how often. `CallOptions.retryPolicy` overrides it for
///   a target or a call. A status counts regardless of whether the target accepts it.
/// - Only calls that are safe to retry are retried, even if nothing was sent. These are calls with an idempotent method
///   (RFC 9110 §9.2.2) or an `Idempotency-Key`, from their header fields or `CallOptions.idempotencyKey`.
/// - The delay is a random time between zero and a bound that doubles with each retry, so that calls that fail together
///   aren't retried together. A server's `Retry-After` replaces it. If that is longer than the policy's
///   `retryAfterLimit`, or the call's `CallTimeout.wholeCall` would expire during the delay, the call ends with the
///   server's response.
/// - A ``RetryBudget`` limits the retries of a scope.
/// - The count of a resumable download or upload starts over after each attempt that transfers at least 64 KiB. An
///   upload is also retried after status 423, with which a server reports that it is still processing the interrupted
///   request.
/// - The error of a call contains its earlier attempts (`TargetKitError.previousAttempts`).
/// - A call that was cancelled, or failed before it was sent, isn't retried. The provider's clock measures the delay,
///   which ends when the call is cancelled.
/// - Calls that share an exchange are retried together.
/// - All TargetKit bodies can be sent again. If a body source can't be opened a second time, the call ends with its
///   error.
///
/// Several providers can use the same plugin. Copies share the budget.
public struct RetryPlugin: Plugin {
    /// The state of the attempts of one call.
    fileprivate struct Attempts: Sendable {
        /// Whether all requests that were sent are safe to send again.
        var isRepeatable = true
        var repetitions = 0
        /// `TransferState.continuedByteCount` when the retries were last reset.
        var byteCount: Int64 = 0
    }

    /// The number of bytes that a transfer must advance to reset its retries.
    fileprivate static let progress: Int64 = 64 << 10

    private let policy: RetryPolicy
    private let now: @Sendable () -> Date
    package let counter: RetryCounter
    private let shouldRetry: (@Sendable (Result<Response, TargetKitError>, RequestContext) -> Bool?)?
    private let onRetry: @Sendable (FailedAttempt, RequestContext) -> Void
    /// Has a separate lock, because a generator changes when it is used, and no other work needs to wait for it.
    private let generator: Locked<any RandomNumberGenerator & Sendable>
    private let attempts = PluginStorage<Attempts>()

    /// Creates a plugin that retries calls.
    ///
    /// - Parameters:
    ///   - policy: Determines which failures are retried; default: `RetryPolicy()`.
    ///   - budget: Limits the retries of a scope; default: `RetryBudget()`.
    ///   - clock: Measures the budget's window; default: the continuous clock. The provider's clock measures delays.
    ///   - generator: Generates the random part of a delay; default: the system's generator. It is used on one thread
    ///     at a time under a lock, so its `next()` should not wait.
    ///   - now: Returns the current date, for a `Retry-After` with a date in a response without a `Date`.
    ///   - shouldRetry: Returns whether to retry after the result of an attempt; `nil` to use the policy's statuses and
    ///     codes. The other conditions still apply, including safety, the number of attempts, the timeout and the
    ///     budget. Default: uses the policy.
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

    /// The hooks that the plugin implements.
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

    /// Counts the call, and records whether it is safe to retry.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        var attempts = context[self.attempts] ?? Attempts()
        let methods = (context.options.retryPolicy ?? policy).methods
        attempts.isRepeatable = attempts.isRepeatable && request.isRepeatable(with: methods)
        context[self.attempts] = attempts
        if context.attempt == 0 { counter.countCall(in: context.scope) }
    }

    /// Requests another attempt.
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
        // A call that shares an exchange hasn't sent anything itself.
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

    /// - Parameter asked: The delay that the server requests.
    private func delay(before repetition: Int, by policy: RetryPolicy, asked: Duration?) -> Duration {
        if let asked, asked > .zero { return min(asked, LongestWait.year) }
        let share = generator.withLock { Double.random(in: 0...1, using: &$0) }
        return policy.longestDelay(before: repetition) * share
    }

    private func isTransient(_ outcome: AttemptOutcome, context: RequestContext, by policy: RetryPolicy) -> Bool {
        if let status = outcome.status {
            // The server is still processing the interrupted request.
            let isLocked = status == 423 && context.transfer?.isRepeatable == true && !policy.statuses.isEmpty
            return isLocked || policy.statuses.contains(status)
        }
        return outcome.code.map(policy.errorCodes.contains) ?? false
    }
}

extension RetryPlugin.Attempts {
    /// Resets the retries if the transfer has advanced, and returns their number.
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
    /// The policy with which a `RetryPlugin` retries the call; default `nil`: the plugin's policy. Use
    /// `RetryPolicy.never` to disable retries.
    public var retryPolicy: RetryPolicy? {
        get { self[RetryPolicyKey.self] }
        set { self[RetryPolicyKey.self] = newValue }
    }

    /// The key with which the server recognizes retries of the call, so that a POST can be retried; default `nil`:
    /// none. A `RetryPlugin` sends it as `Idempotency-Key` with every attempt.
    ///
    /// ```swift
    /// let receipt = try await provider.request(.pay(draft), options: .setting(\.idempotencyKey, draft.id.uuidString))
    /// ```
    ///
    /// It must differ for different operations, but be equal when a user repeats one, so use a property of the data
    /// rather than a random value. It is sent unchanged (draft-ietf-httpapi-idempotency-key-header requires quotation
    /// marks, but many servers don't). An empty key isn't sent. A key with CR, LF or NUL ends the call with stage
    /// `.request`.
    public var idempotencyKey: String? {
        get { self[IdempotencyKey.self] }
        set { self[IdempotencyKey.self] = newValue }
    }
}

private enum RetryPolicyKey: CallOptionKey { static let defaultValue: RetryPolicy? = nil }
private enum IdempotencyKey: CallOptionKey { static let defaultValue: String? = nil }

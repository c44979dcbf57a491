// SPDX-License-Identifier: MIT
import TargetKit

/// The failures after which a ``RetryPlugin`` retries, the number of attempts, and the delays.
public struct RetryPolicy: Sendable, Hashable {
    package var attempts: Int
    package var baseDelay: Duration
    package var maximumDelay: Duration
    package var retryAfterLimit: Duration
    package var statuses: Set<Int>
    package var errorCodes: Set<URLError.Code>
    package var methods: [HTTPMethod]

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of times that a call is sent, including the first; retries of other plugins
    ///     don't count. Default: 3. If 1 or less, calls aren't retried. A server can receive more requests, because
    ///     HTTP clients send a request again on a new connection if a reused connection is closed as the request
    ///     arrives (RFC 9110 §9.2.2). Three attempts can therefore be six requests.
    ///   - baseDelay: The maximum delay before the first retry. It doubles with each further retry. Default: 0.2
    ///     seconds.
    ///   - maximumDelay: The maximum delay before any retry, at most a year. Default: 20 seconds.
    ///   - retryAfterLimit: The maximum `Retry-After` delay (RFC 9110 §10.2.3), at most a year. If the server requests
    ///     a longer delay, the call isn't retried. Default: 60 seconds.
    ///   - statuses: The status codes after which a call is retried, regardless of whether the target accepts them.
    ///     Default `nil`: 408, 425, 429, 500, 502, 503, 504.
    ///   - errorCodes: The `URLError` codes after which a call is retried. Default `nil`: the host wasn't found, the
    ///     connection was refused or lost, the device is offline, or the request timed out.
    ///   - methods: The methods that are retried without an idempotency key. Default `nil`: the idempotent methods of
    ///     RFC 9110 §9.2.2, and QUERY.
    public init(
        attempts: Int = 3,
        baseDelay: Duration = .milliseconds(200),
        maximumDelay: Duration = .seconds(20),
        retryAfterLimit: Duration = .seconds(60),
        statuses: Set<Int>? = nil,
        errorCodes: Set<URLError.Code>? = nil,
        methods: Set<HTTPMethod>? = nil
    ) {
        self.attempts = attempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.retryAfterLimit = retryAfterLimit
        self.statuses = statuses ?? RetryAfter.statuses
        self.errorCodes = errorCodes ?? ConnectionFailure.transient
        self.methods = methods.map(Array.init) ?? HTTPMethod.idempotent
    }

    /// Retries calls that are safe to retry after failures that are often temporary. This is the default.
    public static let idempotent = RetryPolicy()

    /// Retries calls that are safe to retry only if the connection was lost, but not after a status or timeout.
    public static let lostConnections = RetryPolicy(statuses: [], errorCodes: [.networkConnectionLost])

    /// No retries.
    public static let never = RetryPolicy(attempts: 1)

    /// The maximum delay before a retry.
    ///
    /// - Parameter repetition: The number of the retry, from 0.
    package func longestDelay(before repetition: Int) -> Duration {
        let maximum = min(maximumDelay, LongestWait.year)
        guard baseDelay > .zero, maximum > .zero else { return .zero }
        var delay = baseDelay
        for _ in 0..<max(repetition, 0) {
            guard delay < maximum / 2 else { return maximum }
            delay *= 2
        }
        return min(delay, maximum)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The failures after which a ``RetryPlugin`` retries, the number of attempts, and the delays.
public struct RetryPolicy: Sendable, Hashable {
    package var attempts: Int
    package var baseDelay: Duration
    package var maximumDelay: Duration
    package var retryAfterLimit: Duration
    package var statuses: Set<Int>
    package var errorCodes: Set<URLError.Code>
    package var methods: Set<HTTPMethod>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: The largest number of times a call is sent, including the first; repetitions that other plugins
    ///     ask for don't count. Default: 3. With 1 or less, calls aren't repeated. A server can receive more requests:
    ///     when a kept connection is closed as a request arrives, HTTP clients send the request again on a new one (RFC
    ///     9110 §9.2.2), so that three attempts can be six requests.
    ///   - baseDelay: The longest delay before the first repetition; it doubles with each further one. Default: 0.2
    ///     seconds.
    ///   - maximumDelay: The longest delay before any repetition; at most a year. Default: 20 seconds.
    ///   - retryAfterLimit: The longest delay that a server may ask for by `Retry-After` (RFC 9110 §10.2.3). If it asks
    ///     for more, the call isn't repeated. No delay is longer than a year. Default: 60 seconds.
    ///   - statuses: The status codes after which a call is repeated, whether the target accepts them or not. Default
    ///     `nil`: 408, 425, 429, 500, 502, 503, 504.
    ///   - errorCodes: The `URLError` codes after which a call is repeated. Default `nil`: the host wasn't found or
    ///     refused the connection, the device is offline, the connection was lost, the request timed out.
    ///   - methods: The methods that are repeated without an idempotency key. Default `nil`: the idempotent methods of
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
        self.methods = methods ?? HTTPMethod.idempotent
    }

    /// Retries calls that are safe to repeat, after any failure that is often temporary: the default.
    public static let idempotent = RetryPolicy()

    /// Retries calls that are safe to repeat, only after their connection was lost; no status, no timeout.
    public static let lostConnections = RetryPolicy(statuses: [], errorCodes: [.networkConnectionLost])

    /// No retries.
    public static let never = RetryPolicy(attempts: 1)

    /// The longest delay before a repetition.
    ///
    /// - Parameter repetition: 0 for the first repetition.
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

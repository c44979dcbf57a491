// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Which failures a ``RetryPlugin`` tries again, how often, and after what time.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a call is sent at most, the first time included; repetitions that other plugins ask for do not count.
    /// Default 3. With 1 or less nothing is tried again.
    public var attempts: Int
    /// The longest wait before the first repetition; it doubles with each further one. Default 0.2 s.
    public var baseDelay: Duration
    /// What the doubling ends at; more than a year is a year. Default 20 s.
    public var maximumDelay: Duration
    /// The longest time that a server may ask for by `Retry-After` (RFC 9110 §10.2.3). When it asks for more, the call is not
    /// tried again: to come earlier is against its word, and nobody waits that long. No wait is longer than a year. Default 60 s.
    public var retryAfterLimit: Duration = .seconds(60)
    /// The status codes that are tried again, whether the target validates them or not. Default 408, 425, 429, 500, 502, 503, 504.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The codes of `URLError` that are tried again. Default: the host is not found or takes no connection, the device is
    /// offline, the connection was lost, it took too long.
    public var errorCodes: Set<URLError.Code> = ConnectionFailure.transient
    /// The methods that are tried again without an idempotency key. Default: those that RFC 9110 §9.2.2 calls idempotent, and
    /// QUERY.
    public var methods: Set<HTTPMethod> = Self.idempotentMethods

    /// A policy with the defaults of the other properties.
    public init(
        attempts: Int = 3,
        baseDelay: Duration = .milliseconds(200),
        maximumDelay: Duration = .seconds(20)
    ) {
        self.attempts = attempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
    }

    /// No repetitions.
    public static let never = RetryPolicy(attempts: 1)

    /// GET, HEAD, OPTIONS, TRACE, PUT and DELETE (RFC 9110 §9.2.2), and QUERY, which only reads.
    package static let idempotentMethods: Set<HTTPMethod> = [.get, .head, .options, .trace, .put, .delete, .query]

    /// The longest wait before a repetition.
    ///
    /// - Parameter repetition: 0 for the first one.
    func longestDelay(before repetition: Int) -> Duration {
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

/// The field by which a server says when to come again (RFC 9110 §10.2.3).
enum RetryAfter {
    /// How long to wait; zero for a date that has passed, `nil` without the field or with one that says nothing.
    ///
    /// - Parameter now: The device's time. A response with a `Date` is measured by that one, so that a clock that is wrong does
    ///   not matter.
    static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, 1 << 40))
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let sent = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return .seconds(max(0, date.timeIntervalSince(sent)))
    }
}

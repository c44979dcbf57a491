// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A token bucket, represented by the time at which it will be full. A request takes one token, and tokens return at
/// equal intervals.
struct TokenBucket: Sendable {
    /// The maximum delay that a server can request.
    static let longestBlock = Duration.seconds(3600)

    /// The time between two tokens.
    private let interval: Duration
    /// The time in which an empty bucket receives all tokens except one.
    private let tolerance: Duration
    private var fullAt = Duration.zero
    /// The time when the server allows the next request.
    private var blockedUntil = Duration.zero

    init(_ requests: Int, per period: Duration, burst: Int) {
        interval = max(.zero, min(period, LongestWait.year)) / max(requests, 1)
        // Limited to prevent overflow.
        tolerance = interval * (max(1, min(burst, 1 << 20)) - 1)
    }

    /// Takes a token; returns `false` if there is none yet.
    mutating func take(at now: Duration) -> Bool {
        guard delay(after: 0, at: now) == .zero else { return false }
        fullAt = max(fullAt, now) + interval
        return true
    }

    /// The wait of a request behind a number of others.
    func delay(after others: Int, at now: Duration) -> Duration {
        let ownTurn = fullAt - tolerance + min(interval * min(others, 1 << 20), LongestWait.year)
        return max(.zero, max(ownTurn, blockedUntil) - now)
    }

    /// Whether the bucket has no effect on the next request.
    func isFull(at now: Duration) -> Bool { fullAt <= now && blockedUntil <= now }

    mutating func learn(_ limit: ServerRateLimit, at now: Duration) {
        if let delay = limit.delay { blockedUntil = max(blockedUntil, now + min(delay, Self.longestBlock)) }
        if let remaining = limit.remaining, remaining > 0 {
            let left = interval * min(remaining, 1 << 20)
            fullAt = max(fullAt, now + tolerance + interval - min(left, tolerance + interval))
        }
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// What the calls of one endpoint have cost, for a ``MetricsPlugin``.
public struct EndpointSummary: Sendable, Hashable {
    /// How many calls there were.
    public private(set) var callCount = 0
    /// How many of them have failed; those that were cancelled count in ``cancelCount`` alone.
    public private(set) var failureCount = 0
    /// How many of them were cancelled.
    public private(set) var cancelCount = 0
    /// How often a call was tried again.
    public private(set) var retryCount = 0
    /// The bytes of request bodies.
    public private(set) var bytesSent: Int64 = 0
    /// The bytes of response bodies.
    public private(set) var bytesReceived: Int64 = 0
    /// How long the calls took, but for those that were cancelled, and those that failed before the plugin's `prepare`.
    public private(set) var durations = DurationHistogram()

    /// Half of the calls took no longer; `nil` when there was none.
    public var p50: Duration? { durations.percentile(0.5) }
    /// Nine of ten calls took no longer; `nil` when there was none.
    public var p90: Duration? { durations.percentile(0.9) }
    /// 99 of 100 calls took no longer; `nil` when there was none.
    public var p99: Duration? { durations.percentile(0.99) }

    /// A summary of no calls.
    public init() {}

    /// Counts a call.
    ///
    /// - Parameter isMeasured: Whether its duration is known.
    mutating func add(_ call: CallMetrics, isMeasured: Bool) {
        callCount += 1
        retryCount += call.retryCount
        bytesSent += call.bytesSent
        bytesReceived += call.bytesReceived
        if call.failure == .cancelled {
            cancelCount += 1
        } else {
            if call.failure != nil { failureCount += 1 }
            if isMeasured { durations.add(call.duration) }
        }
    }
}

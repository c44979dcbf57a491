// SPDX-License-Identifier: MIT
import TargetKit

/// What one call has cost, for a ``MetricsPlugin``.
public struct CallMetrics: Sendable {
    /// One exchange with the server, redirects included.
    public struct Attempt: Sendable {
        /// How long it took, from `willSend` to `didReceive`.
        public let duration: Duration
        /// The status code; `nil` when no response came.
        public let statusCode: Int?
        /// What went wrong, a status that the target does not accept included; `nil`: nothing.
        public let failure: TargetKitError.Kind?
        /// The transport's own figures: name lookup, connecting, first byte, bytes both ways; `nil` when it has none, and when no
        /// response came.
        public let transport: TransportMetrics?
    }

    /// The call.
    public let id: RequestContext.ID
    /// The target of the call; for a `MultiTarget` the one inside.
    public let target: any TargetType
    /// The name that the plugin gives the call's endpoint.
    public let endpoint: String
    /// The exchanges, in their order. Empty when the call failed before it was sent, and when it has shared another call's.
    public let attempts: [Attempt]
    /// How long the whole call took, from its `prepare` until its result stood, waits before a retry included. Zero when the call
    /// failed before that, which no percentile counts.
    public let duration: Duration
    /// The status code that the call has ended with; `nil` when there was no response.
    public let statusCode: Int?
    /// What the call has ended with when it failed; `nil`: it did not.
    public let failure: TargetKitError.Kind?

    /// How often the call was tried again.
    public var retryCount: Int { max(0, attempts.count - 1) }
    /// The bytes of request bodies that went out, those of all attempts whose figures are known.
    public var bytesSent: Int64 { attempts.reduce(0) { $0 + ($1.transport?.bytesSent ?? 0) } }
    /// The bytes of response bodies that came over the wire, those of all attempts whose figures are known.
    public var bytesReceived: Int64 { attempts.reduce(0) { $0 + ($1.transport?.bytesReceived ?? 0) } }
}

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
    package private(set) var durations = DurationHistogram()

    /// Half of the calls took no longer; `nil` when there was none.
    public var p50: Duration? { durations.percentile(0.5) }
    /// Nine of ten calls took no longer; `nil` when there was none.
    public var p90: Duration? { durations.percentile(0.9) }
    /// 99 of 100 calls took no longer; `nil` when there was none.
    public var p99: Duration? { durations.percentile(0.99) }

    /// A summary of no calls.
    init() {}

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

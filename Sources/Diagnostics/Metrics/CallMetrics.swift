// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The metrics of one call, measured by a ``MetricsPlugin``.
public struct CallMetrics: Sendable {
    /// One exchange with the server, including redirects.
    public struct Attempt: Sendable {
        /// The time from `willSend` to `didReceive`.
        public let duration: Duration
        /// The status code; `nil` when there was no response.
        public let statusCode: Int?
        /// The kind of failure, including a status code that the target doesn't accept; `nil` if the attempt succeeded.
        public let failure: TargetKitError.Kind?
        /// The transport's metrics; `nil` if it doesn't measure them, if there was no response, or for a stream.
        public let transport: TransportMetrics?
    }

    /// The target of the call; for a `MultiTarget`, the wrapped target.
    public let target: any TargetType
    /// The name of the call's endpoint.
    public let endpoint: String
    /// The exchanges, in order. A retried call has more than one. Empty if the call failed before it was sent, or
    /// shared another call's exchange.
    public let attempts: [Attempt]
    /// The time from the start of the call to its end, including plugins, attempts and their delays, decoding, and the
    /// body of a stream.
    public let duration: Duration
    /// The status code of the last response; `nil` when there was none.
    public let statusCode: Int?
    /// The kind of failure, including a response that couldn't be decoded; `nil` if the call succeeded.
    public let failure: TargetKitError.Kind?
    /// The number of bytes that a stream's reader received, after content decoding; `nil` if the call isn't a stream.
    package let streamedByteCount: Int64?

    /// The number of bytes of request bodies sent in all measured attempts.
    public var bytesSent: Int64 { attempts.reduce(0) { $0 + ($1.transport?.bytesSent ?? 0) } }
    /// The number of bytes of response bodies received in all measured attempts, including a stream.
    public var bytesReceived: Int64 {
        attempts.reduce(streamedByteCount ?? 0) { $0 + ($1.transport?.bytesReceived ?? 0) }
    }
}

/// The summarized metrics of all calls of one endpoint, from a ``MetricsPlugin``.
public struct EndpointSummary: Sendable, Hashable {
    /// The number of calls.
    public private(set) var callCount = 0
    /// The number of calls that failed, excluding cancelled calls.
    public private(set) var failureCount = 0
    /// The number of calls that were cancelled.
    public private(set) var cancelCount = 0
    /// The number of retries.
    public private(set) var retryCount = 0
    /// The number of bytes of request bodies.
    public private(set) var bytesSent: Int64 = 0
    /// The number of bytes of response bodies.
    public private(set) var bytesReceived: Int64 = 0
    /// The durations of the calls, excluding calls that were cancelled or failed before `prepare`.
    package private(set) var durations = DurationHistogram()

    /// Returns a percentile of the durations: `percentile(0.9)` is p90. Calls that were cancelled or failed before
    /// `prepare` are excluded.
    ///
    /// - Parameter share: A number from 0 to 1; other numbers are clamped.
    /// - Returns: The duration, or `nil` if there are no calls.
    public func percentile(_ share: Double) -> Duration? { durations.percentile(share) }

    /// Creates an empty summary.
    init() {}

    /// Counts a call.
    ///
    /// - Parameter isMeasured: Whether its duration counts.
    mutating func add(_ call: CallMetrics, isMeasured: Bool) {
        callCount += 1
        retryCount += max(0, call.attempts.count - 1)
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

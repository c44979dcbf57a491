// SPDX-License-Identifier: MIT
import TargetKit

/// The figures of one call, measured by a ``MetricsPlugin``.
public struct CallMetrics: Sendable {
    /// One exchange with the server, redirects included.
    public struct Attempt: Sendable {
        /// The time from `willSend` to `didReceive`.
        public let duration: Duration
        /// The status code; `nil` when there was no response.
        public let statusCode: Int?
        /// Why the attempt failed, also by a status code that the target does not accept; `nil` when it succeeded.
        public let failure: TargetKitError.Kind?
        /// The transport's figures: name lookup, connecting, first byte, bytes sent and received; `nil` when it does not measure
        /// them, when there was no response, and of a stream.
        public let transport: TransportMetrics?
    }

    /// The target of the call; for a `MultiTarget` the one inside.
    public let target: any TargetType
    /// The name of the call's endpoint.
    public let endpoint: String
    /// The exchanges, in order: more than one when the call was repeated. Empty when the call failed before it was sent, and when it shared another call's exchange.
    public let attempts: [Attempt]
    /// The time from the start of the call to its end: plugins, attempts, the delays between them and decoding included, and the
    /// body of a stream.
    public let duration: Duration
    /// The status code of the last response; `nil` when there was none.
    public let statusCode: Int?
    /// Why the call failed, also by a response that could not be decoded; `nil` when it succeeded.
    public let failure: TargetKitError.Kind?
    /// The bytes of the body that the reader of a stream has received, decoded; `nil` if the call is not a stream.
    package let streamedByteCount: Int64?

    /// The bytes of request bodies that were sent, in all attempts whose figures are known.
    public var bytesSent: Int64 { attempts.reduce(0) { $0 + ($1.transport?.bytesSent ?? 0) } }
    /// The bytes of response bodies that were received, in all attempts whose figures are known, and those of a stream.
    public var bytesReceived: Int64 {
        attempts.reduce(streamedByteCount ?? 0) { $0 + ($1.transport?.bytesReceived ?? 0) }
    }
}

/// The figures of all calls of one endpoint, summed up by a ``MetricsPlugin``.
public struct EndpointSummary: Sendable, Hashable {
    /// The number of calls.
    public private(set) var callCount = 0
    /// The number of calls that failed; cancelled calls count in ``cancelCount`` alone.
    public private(set) var failureCount = 0
    /// The number of calls that were cancelled.
    public private(set) var cancelCount = 0
    /// The number of attempts that followed a first one.
    public private(set) var retryCount = 0
    /// The bytes of request bodies.
    public private(set) var bytesSent: Int64 = 0
    /// The bytes of response bodies.
    public private(set) var bytesReceived: Int64 = 0
    /// The durations of the calls, without those that were cancelled or failed before `prepare`.
    package private(set) var durations = DurationHistogram()

    /// The duration that a share of the calls did not exceed: `percentile(0.9)` is p90. Calls that were cancelled or failed before
    /// `prepare` do not count.
    ///
    /// - Parameter share: From 0 to 1; other numbers count as 0 or 1.
    /// - Returns: `nil` without calls.
    public func percentile(_ share: Double) -> Duration? { durations.percentile(share) }

    /// A summary of no calls.
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

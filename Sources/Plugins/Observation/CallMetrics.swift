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

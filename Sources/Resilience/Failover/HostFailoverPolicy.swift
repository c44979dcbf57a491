// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The conditions under which a host of a ``HostFailoverPlugin`` has failed, and the first host is tried again.
public struct HostFailoverPolicy: Sendable, ServerFailures {
    package var statuses: Set<Int>
    package var errorCodes: Set<URLError.Code>
    package var movesNonIdempotentCallsOnStatus: Bool
    package var probeAfter: Duration
    package var isAvailable: (@Sendable (_ host: URL) -> Bool)?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - statuses: The status codes that are failures of the host; default: 502, 503, 504. Add 403 only if a gateway
    ///     in front of the host sends it; otherwise, one forbidden call would change the host of all calls.
    ///   - errorCodes: The `URLError` codes that are failures of the host. Default `nil`: the host wasn't found, the
    ///     connection was refused or lost, the TLS handshake failed, or the request timed out. An offline device isn't
    ///     a failure of a host. If a healthy host can exceed the timeouts of calls, omit `.timedOut`; otherwise, one
    ///     slow call changes the host of all calls.
    ///   - movesNonIdempotentCallsOnStatus: Whether calls that aren't safe to retry, such as a POST without an
    ///     `Idempotency-Key`, are also sent to the next host after one of the statuses. Default: `false`, because a
    ///     server that responds may have processed the request. Pass `true` if only a gateway sends these statuses,
    ///     before it forwards a request.
    ///   - probeAfter: The time after its failure at which the first host is tried again; default: 60 seconds.
    ///   - isAvailable: Returns whether a host may be used; called before each attempt for each host. `false` counts as
    ///     a failure of the host. Default `nil`: all hosts may be used. A host whose calls a ``CircuitBreakerPlugin``
    ///     of the provider rejects is never used.
    public init(
        statuses: Set<Int> = [502, 503, 504],
        errorCodes: Set<URLError.Code>? = nil,
        movesNonIdempotentCallsOnStatus: Bool = false,
        probeAfter: Duration = .seconds(60),
        isAvailable: (@Sendable (_ host: URL) -> Bool)? = nil
    ) {
        self.statuses = statuses
        self.errorCodes = errorCodes ?? ConnectionFailure.ofServer
        self.movesNonIdempotentCallsOnStatus = movesNonIdempotentCallsOnStatus
        self.probeAfter = probeAfter
        self.isAvailable = isAvailable
    }
}

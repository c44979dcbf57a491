// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The conditions under which a ``CircuitBreakerPlugin`` rejects calls.
public struct CircuitBreakerPolicy: Sendable, Hashable, ServerFailures {
    package var failures: Int
    package var share: Double
    package var window: Duration
    package var openFor: Duration
    package var probes: Int
    package var probeTimeout: Duration
    package var slowCallThreshold: Duration?
    package var statuses: Set<Int>
    package var errorCodes: Set<URLError.Code>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - failures: The number of failures within the window that open the circuit, if `share` is also reached, at
    ///     least 1; default: 5.
    ///   - share: The share of the calls within the window that must fail to open the circuit. If 0, only the number of
    ///     failures counts. Default: 0.5.
    ///   - window: The time for which a call counts after its end, with a precision of a tenth; default: 30 seconds.
    ///   - openFor: The time for which an open circuit rejects all calls; default: 30 seconds.
    ///   - probes: The number of calls that a half-open circuit sends at a time, and that must succeed to close it, at
    ///     least 1; default: 1.
    ///   - probeTimeout: The time after which another probe is sent, so that a slow download doesn't block all calls.
    ///     If zero, a half-open circuit sends every call. Default: 10 seconds.
    ///   - slowCallThreshold: The time after which a call counts as a failure regardless of its result, measured from
    ///     sending it to its complete response, or for a stream, to the head. Default `nil`: no limit.
    ///   - statuses: The status codes that are failures of the server; default: 500, 502, 503, 504.
    ///   - errorCodes: The `URLError` codes that are failures of the server. Default `nil`: the host wasn't found, the
    ///     connection was refused or lost, the TLS handshake failed, or the request timed out. An offline device isn't
    ///     a failure of the server.
    public init(
        failures: Int = 5,
        share: Double = 0.5,
        window: Duration = .seconds(30),
        openFor: Duration = .seconds(30),
        probes: Int = 1,
        probeTimeout: Duration = .seconds(10),
        slowCallThreshold: Duration? = nil,
        statuses: Set<Int> = [500, 502, 503, 504],
        errorCodes: Set<URLError.Code>? = nil
    ) {
        self.failures = failures
        self.share = share
        self.window = window
        self.openFor = openFor
        self.probes = probes
        self.probeTimeout = probeTimeout
        self.slowCallThreshold = slowCallThreshold
        self.statuses = statuses
        self.errorCodes = errorCodes ?? ConnectionFailure.ofServer
    }
}

/// The state of a circuit of a ``CircuitBreakerPlugin``.
public enum CircuitState: Sendable, Hashable {
    /// All calls are sent.
    case closed
    /// All calls are rejected.
    case open
    /// A few calls are sent as probes, to determine whether the server has recovered.
    case halfOpen
    /// All calls are rejected until the circuit is reset, after ``CircuitBreakerPlugin/isolate(_:)``.
    case isolated
}

// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
    ///   - failures: How many failures within the window open the circuit, if they are also the share; default: 5; at
    ///     least 1.
    ///   - share: The share of the calls within the window that must fail to open the circuit. Default: 0.5; with 0
    ///     only the number of failures counts.
    ///   - window: How long the end of a call counts, to a tenth; default: 30 seconds.
    ///   - openFor: How long an open circuit refuses all calls; default: 30 seconds.
    ///   - probes: How many calls a half-open circuit sends at a time, and how many must succeed to close it; default:
    ///     1; at least 1.
    ///   - probeTimeout: How long such a call blocks the others; then one more is sent, so that a slow download doesn't
    ///     block all calls. Default: 10 seconds; with zero a half-open circuit sends every call.
    ///   - slowCallThreshold: A call that takes longer counts as a failure, whatever its result: from sending it to its
    ///     response with the whole body, of a stream to the head. Default `nil`: no call is too slow.
    ///   - statuses: The status codes that are failures of the server; default: 500, 502, 503, 504.
    ///   - errorCodes: The `URLError` codes that are failures of the server. Default `nil`: the host wasn't found,
    ///     refused the connection, failed the TLS handshake, lost the connection or didn't respond in time. An offline
    ///     device isn't a failure of the server.
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
    /// All calls are refused.
    case open
    /// A few calls are sent, to find out whether the server works again.
    case halfOpen
    /// All calls are refused until the circuit is reset: ``CircuitBreakerPlugin/isolate(_:)``.
    case isolated
}

// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// When a ``CircuitBreakerPlugin`` refuses calls, and for how long.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// How many failures within the ``window`` open the circuit, if they are also the ``share``. Default: 5; at least 1.
    public var failures: Int
    /// The share of the calls within the window that must fail to open the circuit. Default: 0.5; with 0 only ``failures`` counts.
    public var share: Double
    /// How long the end of a call counts, to a tenth. Default: 30 seconds.
    public var window: Duration
    /// How long an open circuit refuses all calls. Default: 30 seconds.
    public var openFor: Duration
    /// How many calls a half-open circuit sends at a time, and how many must succeed to close it. Default: 1; at least 1.
    public var probes: Int = 1
    /// The status codes that are failures of the server. Default: 500, 502, 503, 504.
    public var statuses: Set<Int> = [500, 502, 503, 504]
    /// The `URLError` codes that are failures of the server. Default: the host was not found, refused the connection, failed the TLS
    /// handshake, lost the connection or did not answer in time. An offline device is not a failure of the server.
    public var errorCodes: Set<URLError.Code> = ConnectionFailure.beforeSending.union(ConnectionFailure.whileExchanging)

    /// A policy with the defaults of the other properties.
    public init(
        failures: Int = 5,
        share: Double = 0.5,
        window: Duration = .seconds(30),
        openFor: Duration = .seconds(30)
    ) {
        self.failures = failures
        self.share = share
        self.window = window
        self.openFor = openFor
    }
}

/// Whether a ``CircuitBreakerPlugin`` lets calls through.
public enum CircuitState: String, Sendable, Hashable, CaseIterable {
    /// All calls are sent.
    case closed
    /// All calls are refused.
    case open
    /// A few calls are sent, to find out whether the server works again.
    case halfOpen
}

/// A change of a circuit of a ``CircuitBreakerPlugin``.
public struct CircuitChange: Sendable, Hashable {
    /// The circuit: `https://shop.example`, or what the plugin's key closure returns.
    public let key: String
    /// The state before.
    public let from: CircuitState
    /// The new state.
    public let to: CircuitState

    package init(key: String, from: CircuitState, to: CircuitState) {
        self.key = key
        self.from = from
        self.to = to
    }
}

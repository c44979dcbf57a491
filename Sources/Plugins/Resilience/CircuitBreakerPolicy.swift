// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// When a ``CircuitBreakerPlugin`` holds calls back, and for how long.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// So many failures within the ``window`` open the circuit, when they are also the ``share``. Default 5; at least 1.
    public var failures: Int
    /// So much of the calls within the window has to fail. Default 0.5; with 0 only the number counts.
    public var share: Double
    /// How long calls count, to a tenth of it. Default 30 s.
    public var window: Duration
    /// How long an open circuit holds all calls back. Default 30 s.
    public var openFor: Duration
    /// How many calls a half-open circuit lets through at a time, and how many have to work for it to close. Default 1; at
    /// least 1.
    public var probes: Int = 1
    /// The status codes that are failures of the server. Default 500, 502, 503, 504.
    public var statuses: Set<Int> = [500, 502, 503, 504]
    /// The codes of `URLError` that are. Default: the host is not found, takes no connection, agrees on no TLS, has lost the
    /// connection, or takes too long. That the device is offline is not the server's fault.
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
    /// All calls go through.
    case closed
    /// None does.
    case open
    /// A few do, to see whether the server works again.
    case halfOpen
}

/// That a circuit of a ``CircuitBreakerPlugin`` has opened, closed, or half opened.
public struct CircuitChange: Sendable, Hashable {
    /// Whose circuit it is: `https://shop.example`, or what the plugin's key closure says.
    public let key: String
    /// What it was.
    public let from: CircuitState
    /// What it is.
    public let to: CircuitState

    package init(key: String, from: CircuitState, to: CircuitState) {
        self.key = key
        self.from = from
        self.to = to
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// The network conditions that a transport simulates on top of another transport.
///
/// ```swift
/// let transport = NetworkConditions.threeG.transport(over: StubTransport(…), seed: 1, clock: clock)
/// ```
///
/// Random events depend only on the seed and the number of the call, so calls in sequence have the same results each
/// time.
public struct NetworkConditions: Sendable, Hashable {
    /// The time before a call reaches the server; default zero.
    public var latency: Duration
    /// The maximum deviation of the latency, in both directions; default zero.
    public var variance: Duration
    /// The number of response body bytes that arrive per second, for each call; default `nil`: unlimited.
    public var downloadRate: Int?
    /// The number of request body bytes that are sent per second, for each call; default `nil`: unlimited.
    public var uploadRate: Int?
    /// The probability from 0 to 1 that the connection of a call is lost, before the request reaches the server or
    /// while the response arrives; default 0.
    public var lossRate: Double
    /// The probability from 0 to 1 that a call receives a response with ``errorStatus`` instead of being sent; default:
    /// 0.
    public var errorRate: Double
    /// The status of such a response; default 503.
    public var errorStatus: Int
    /// The number of body bytes of all calls, in both directions, after which the device is offline; default `nil`: it
    /// stays online. If 0, it is offline from the start.
    public var offlineAfter: Int?
    /// Whether calls reach only the network's login page. Calls to http URLs return its HTML with status 200, and calls
    /// to https URLs fail because the certificate isn't trusted. Default: no.
    public var hasCaptivePortal: Bool

    /// Creates conditions; by default, of an unlimited network without losses.
    public init(
        latency: Duration = .zero,
        variance: Duration = .zero,
        downloadRate: Int? = nil,
        uploadRate: Int? = nil,
        lossRate: Double = 0,
        errorRate: Double = 0,
        errorStatus: Int = 503,
        offlineAfter: Int? = nil,
        hasCaptivePortal: Bool = false
    ) {
        self.latency = latency
        self.variance = variance
        self.downloadRate = downloadRate
        self.uploadRate = uploadRate
        self.lossRate = lossRate
        self.errorRate = errorRate
        self.errorStatus = errorStatus
        self.offlineAfter = offlineAfter
        self.hasCaptivePortal = hasCaptivePortal
    }
}

extension NetworkConditions {
    /// EDGE: 240 kbit/s down, 200 kbit/s up, 840 ms.
    public static let edge = NetworkConditions(
        latency: .milliseconds(840),
        variance: .milliseconds(200),
        downloadRate: 30_000,
        uploadRate: 25_000
    )
    /// 3G: 780 kbit/s down, 330 kbit/s up, 200 ms.
    public static let threeG = NetworkConditions(
        latency: .milliseconds(200),
        variance: .milliseconds(50),
        downloadRate: 97_500,
        uploadRate: 41_250
    )
    /// Wi-Fi at the edge of its range: 1 Mbit/s in both directions, 100 ms, and one in ten connections is lost.
    public static let lossyWiFi = NetworkConditions(
        latency: .milliseconds(100),
        variance: .milliseconds(90),
        downloadRate: 125_000,
        uploadRate: 125_000,
        lossRate: 0.1
    )
    /// A network whose login page hasn't been accepted yet.
    public static let captivePortal = NetworkConditions(latency: .milliseconds(20), hasCaptivePortal: true)
    /// No network.
    public static let offline = NetworkConditions(offlineAfter: 0)

    /// A network that is lost after a number of body bytes of all calls, in both directions.
    public static func offline(after byteCount: Int) -> NetworkConditions {
        NetworkConditions(offlineAfter: byteCount)
    }

    /// Returns a transport that behaves like a network with these conditions.
    ///
    /// It applies request timeouts on the clock, and reports the progress of slowed-down bodies. A slowed-down response
    /// is read into memory unless it is streamed.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests; default: the system's transport.
    ///   - seed: Determines the random events; default 0.
    ///   - clock: Measures latency, transfers and timeouts; default: the continuous clock.
    public func transport(
        over transport: any Transport = SystemTransport.shared,
        seed: UInt64 = 0,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> some Transport {
        ConditionedTransport(self, over: transport, seed: seed, clock: clock)
    }
}

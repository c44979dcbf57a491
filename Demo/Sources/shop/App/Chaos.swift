// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TargetKitTesting

/// A bad network: slow, with lost connections and overloaded servers.
struct Chaos {
    /// Determines which calls fail. The same seed gives the same failures to calls that are made one after the other.
    let seed: UInt64

    private static let conditions = NetworkConditions(
        latency: .milliseconds(60),
        variance: .milliseconds(50),
        lossRate: 0.15,
        errorRate: 0.15
    )

    /// More attempts than on a good network.
    static let retryPolicy = RetryPolicy(attempts: 6, baseDelay: .milliseconds(100), maximumDelay: .seconds(1))

    /// The transport of this network.
    func transport(
        over transport: any Transport = SystemTransport.shared,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> any Transport {
        Self.conditions.transport(over: transport, seed: seed, clock: clock)
    }
}

// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

/// A bad network: slow, with lost connections and overloaded servers. It is the innermost plugin, so that all others see
/// what it does.
struct Chaos: Plugin {
    private static let latency = 10...110
    private static let lossRate = 0.15
    private static let errorRate = 0.15

    /// More attempts than on a good network.
    static let retryPolicy = RetryPolicy(attempts: 6, baseDelay: .milliseconds(100), maximumDelay: .seconds(1))

    private let clock: any Clock<Duration>
    private let random: Guarded<SplitMix>

    /// - Parameter seed: Determines which calls fail. The same seed gives the same failures to calls that are made one
    ///   after the other.
    init(seed: UInt64, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        random = Guarded(SplitMix(state: seed))
    }

    var place: PluginPlace { PluginPlace(rawValue: PluginPlace.observation.rawValue + 50) }

    var hooks: PluginHooks { .exchange }

    /// Delays an exchange, and then passes it on, loses its connection, or responds in place of the server.
    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let (latency, luck) = random.withLock { random in
            (Int.random(in: Self.latency, using: &random), Double.random(in: 0..<1, using: &random))
        }
        try await clock.sleep(for: .milliseconds(latency))
        switch luck {
        case ..<Self.lossRate: throw URLError(.networkConnectionLost)
        case ..<(Self.lossRate + Self.errorRate):
            return TransportResponse(head: ResponseHead(statusCode: 503), body: .data(Data()))
        default: return try await next(request)
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014), whose numbers depend on the seed only.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

// SPDX-License-Identifier: MIT

/// How often a credential is renewed at most, so that a server that rejects each new one is not asked for ever.
public struct RefreshLimit: Sendable, Hashable {
    /// The number of refreshes, those that failed included; one that got no answer from the server does not count.
    public var count: Int
    /// The time within which they are counted, by the plugin's clock.
    public var interval: Duration

    /// A limit; default: 5 in 30 seconds.
    public init(_ count: Int = 5, within interval: Duration = .seconds(30)) {
        self.count = count
        self.interval = interval
    }
}

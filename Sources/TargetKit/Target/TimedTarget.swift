// SPDX-License-Identifier: MIT

/// A target that says how long its calls may take in all, repetitions included; ``TargetType/timeout`` is for one exchange.
public protocol TimedTarget: TargetType {
    /// The limits of this target's calls. They go before the provider's; ``TargetType/timeout`` goes before their
    /// ``CallTimeout/exchange``.
    var callTimeout: CallTimeout { get }
}

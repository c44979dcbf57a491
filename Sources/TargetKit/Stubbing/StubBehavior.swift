// SPDX-License-Identifier: MIT

/// Whether a call is stubbed with a sample of its target, and with which sample.
///
/// A stub replaces only the transport. Closures, plugins, validation and decoding run as in a real call.
public enum StubBehavior: Sendable, Hashable {
    /// The call uses the provider's transport.
    case never
    /// The sample is returned without an additional delay.
    case immediate
    /// The sample is returned after a delay measured by the provider's clock.
    case delayed(Duration)
    /// The target's sample for a scenario, `TargetType.sampleResponse(in:)`, is returned. A target without a sample for
    /// the scenario returns its ordinary sample.
    case scenario(String)
}

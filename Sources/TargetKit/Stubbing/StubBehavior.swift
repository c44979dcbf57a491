// SPDX-License-Identifier: MIT

/// Whether a call is answered by its target's sample, and by which one.
///
/// A stub replaces only the transport: closures, plugins, validation and decoding run as in a real call.
public enum StubBehavior: Sendable, Hashable {
    /// The call uses the provider's transport.
    case never
    /// The sample is returned without delay, apart from its own.
    case immediate
    /// The sample is returned after a time that the provider's clock measures.
    case delayed(Duration)
    /// The target's sample for a scenario is returned: `TargetType.sampleResponse(in:)`. A target that has none for the
    /// scenario returns its ordinary sample.
    case scenario(String)
}

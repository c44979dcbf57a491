// SPDX-License-Identifier: MIT

/// Whether a call is answered by its target's sample, and when.
///
/// A stub takes the place of the transport only: closures, plugins, validation and decoding run as they do for a real call.
public enum StubBehavior: Sendable, Hashable {
    /// The call goes over the provider's transport.
    case never
    /// The sample answers without delay.
    case immediate
    /// The sample answers after that time, on the provider's clock.
    case delayed(Duration)
}

// SPDX-License-Identifier: MIT

/// What a plugin makes of an attempt's result.
public enum RetryDecision: Sendable {
    /// The result stands, as far as this plugin is concerned.
    case doNotRetry
    /// The call is tried again after that time, on the provider's clock.
    case retry(after: Duration)
    /// The call ends with that error in the result's place.
    case fail(TargetKitError)
}

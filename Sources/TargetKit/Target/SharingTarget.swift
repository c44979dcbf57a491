// SPDX-License-Identifier: MIT

/// A target that says whether its calls share one network call with identical ones, whatever its provider's
/// ``InFlightSharing`` says.
public protocol SharingTarget: TargetType {
    /// Whether this call shares.
    var sharesInFlight: Bool { get }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A target that says whether its calls are held while the device is offline. Targets that do not conform are.
///
/// A call that is of no use later is not: what the person types into a search field, or a look whether something is new.
public protocol ConnectivityTarget: TargetType {
    /// Whether a ``WaitsForConnectivityPlugin`` holds this call while the device is offline, and sends it again when it was
    /// offline that made it fail.
    var waitsForConnectivity: Bool { get }
}

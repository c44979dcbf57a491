// SPDX-License-Identifier: MIT
import TargetKit

/// A target that says by itself whether and how its calls are tried again by a ``RetryPlugin``.
public protocol RetryingTarget: TargetType {
    /// The policy of this call; `nil`: the plugin's own. ``RetryPolicy/never`` for none.
    var retryPolicy: RetryPolicy? { get }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A target that says whether the person has to see that its call runs. Targets that do not conform are shown.
public protocol LoadingTarget: TargetType {
    /// Whether a ``LoadingPlugin`` shows this call.
    var showsLoading: Bool { get }
}

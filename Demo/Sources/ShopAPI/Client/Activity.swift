// SPDX-License-Identifier: MIT
import TargetKitPlugins

/// Counts the calls that go out, as an app's activity indicator does.
package final class Activity: Sendable {
    /// What was counted.
    package struct Count: Sendable {
        package var began = 0
        package var ended = 0
        package var mostAtOnce = 0
    }

    private let counted = Guarded(Count())

    package init() {}

    /// What was counted so far.
    package var count: Count { counted.value }

    package func note(_ change: NetworkActivityPlugin.Change) {
        counted.withLock { count in
            switch change {
            case .began: count.began += 1
            case .ended: count.ended += 1
            }
            count.mostAtOnce = max(count.mostAtOnce, count.began - count.ended)
        }
    }
}

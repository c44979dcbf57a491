// SPDX-License-Identifier: MIT
import Synchronization
import TargetKitPlugins

/// Counts the calls that go out, as an app's activity indicator does.
final class Activity: Sendable {
    /// What was counted.
    struct Count: Sendable {
        var began = 0
        var ended = 0
        var mostAtOnce = 0
    }

    private let counted = Mutex(Count())

    /// What was counted so far.
    var count: Count { counted.withLock { $0 } }

    func note(_ change: NetworkActivityPlugin.Change) {
        counted.withLock { count in
            switch change {
            case .began: count.began += 1
            case .ended: count.ended += 1
            }
            count.mostAtOnce = max(count.mostAtOnce, count.began - count.ended)
        }
    }
}

// SPDX-License-Identifier: MIT
// A release build, which also compiles this target, has no testable modules.
#if DEBUG
@testable import TargetKit

extension Provider {
    /// Waits until a number of calls wait for shared exchanges. A call is in flight before it joins one.
    package func waitForJoinedCalls(_ count: Int) async {
        while configuration.sharedExchanges.waiterCount < count, !Task.isCancelled { await Task.yield() }
    }
}
#endif

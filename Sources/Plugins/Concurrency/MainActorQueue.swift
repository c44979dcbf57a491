// SPDX-License-Identifier: MIT
import Dispatch
import TargetKit

/// Runs the closures of plugins on the main actor, in their order.
///
/// The main thread is woken once for those that come before it has time: waking it takes longer than most closures.
enum MainActorQueue {
    private static let waiting = Locked<[@MainActor @Sendable () -> Void]>([])

    static func async(_ work: @escaping @MainActor @Sendable () -> Void) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(work)
            return waiting.count == 1
        }
        guard isFirst else { return }
        // The main queue keeps the order, which tasks may not.
        DispatchQueue.main.async {
            MainActor.assumeIsolated { runAll() }
        }
    }

    @MainActor
    private static func runAll() {
        let works = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in works { work() }
    }
}

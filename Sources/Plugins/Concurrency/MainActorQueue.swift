// SPDX-License-Identifier: MIT
import Dispatch
import TargetKit

/// Runs plugins' closures on the main actor, in the order in which they are added.
///
/// Closures added before the first one runs share one wake-up of the main thread, which takes two system calls
/// (`Benchmarks`, `counts`). They may run before other blocks that were added to the main queue in between.
enum MainActorQueue {
    private static let waiting = Locked<[@MainActor @Sendable () -> Void]>([])

    static func async(_ work: @escaping @MainActor @Sendable () -> Void) {
        // Under the lock, so that a closure that was added runs before blocks that are added to the main queue later. The
        // main queue preserves the order, unlike tasks.
        waiting.withLock { waiting in
            waiting.append(work)
            if waiting.count > 1 { return }
            DispatchQueue.main.async {
                MainActor.assumeIsolated { runAll() }
            }
        }
    }

    @MainActor
    private static func runAll() {
        let closures = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for closure in closures { closure() }
    }
}

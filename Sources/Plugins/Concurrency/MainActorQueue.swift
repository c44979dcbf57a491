// SPDX-License-Identifier: MIT
import Dispatch
import TargetKit

/// Runs plugins' closures on the main actor, in the order in which they are added.
///
/// Closures added before the first one runs share a wake-up of the main thread, which takes two system calls (`Benchmarks`,
/// `counts`). They may run before other blocks that were added to the main queue between them.
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
        let closures = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for closure in closures { closure() }
    }
}

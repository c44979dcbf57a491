// SPDX-License-Identifier: MIT

/// Suspends tasks until it is opened. It then stays open.
package final class Gate: Sendable {
    private let opened = Tally()
    private let arrived = Tally()

    /// Creates a closed gate.
    package init() {}

    /// Whether ``open()`` was called.
    package var isOpen: Bool { opened.value > 0 }

    /// Resumes the waiting tasks, and lets later ones pass. Calling it again has no effect.
    package func open() {
        opened.add()
    }

    /// Waits until the gate is open, even if the task is cancelled, to represent code that ignores cancellation.
    ///
    /// After five minutes, it opens the gate, so that a test that exceeds its time limit ends.
    package func wait() async {
        arrived.add()
        guard !isOpen else { return }
        let limit = Task.detached { [self] in
            try await Task.sleep(for: .seconds(300))
            open()
        }
        await opened.waitRegardless(for: 1)
        limit.cancel()
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func waitUnlessCancelled() async throws {
        arrived.add()
        try await opened.wait(for: 1)
    }

    /// Waits until a number of tasks reach the gate. Returns early if the task is cancelled.
    package func waitForArrivals(_ count: Int = 1) async {
        try? await arrived.wait(for: count)
    }
}

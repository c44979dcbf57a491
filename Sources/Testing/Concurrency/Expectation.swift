// SPDX-License-Identifier: MIT

/// Waits until something happens a number of times.
package final class Expectation: Sendable {
    private let fulfilled = Tally()
    private let count: Int

    /// Creates an expectation.
    ///
    /// - Parameter count: The number of calls of ``fulfill()`` to wait for; default: 1.
    package init(count: Int = 1) {
        self.count = count
    }

    /// The number of calls of ``fulfill()``, which can exceed the expected number.
    package var fulfilledCount: Int { fulfilled.value }

    /// Counts one call.
    package func fulfill() {
        fulfilled.add()
    }

    /// Waits for the expected number of calls. Returns early if the task is cancelled.
    package func wait() async {
        try? await fulfilled.wait(for: count)
    }

    /// Waits for the expected number of calls.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func waitUnlessCancelled() async throws {
        try await fulfilled.wait(for: count)
    }
}

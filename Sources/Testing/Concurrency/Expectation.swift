// SPDX-License-Identifier: MIT

/// Something that has to happen a number of times before the test goes on.
package final class Expectation: Sendable {
    private let fulfilled = Tally()
    private let count: Int

    /// Expects ``fulfill()`` that many times, once unless told.
    package init(count: Int = 1) {
        self.count = count
    }

    /// How often it has happened; may be more than was expected.
    package var fulfilledCount: Int { fulfilled.value }

    /// Says that it has happened once more.
    package func fulfill() {
        fulfilled.add()
    }

    /// Returns when it has happened as often as expected. Returns early when the task is cancelled.
    package func wait() async {
        try? await fulfilled.wait(for: count)
    }

    /// Returns when it has happened as often as expected.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func waitUnlessCancelled() async throws {
        try await fulfilled.wait(for: count)
    }
}

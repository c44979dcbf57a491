// SPDX-License-Identifier: MIT

import TargetKitTesting

/// Something that has to happen a number of times before the test goes on.
public final class Expectation: Sendable {
    private let fulfilled = Tally()
    private let count: Int

    /// Expects ``fulfill()`` that many times, once unless told.
    public init(count: Int = 1) {
        self.count = count
    }

    /// How often it has happened; may be more than was expected.
    public var fulfilledCount: Int { fulfilled.value }

    /// Says that it has happened once more.
    public func fulfill() {
        fulfilled.add()
    }

    /// Returns when it has happened as often as expected. Returns early when the task is cancelled.
    public func wait() async {
        try? await fulfilled.wait(for: count)
    }

    /// Returns when it has happened as often as expected.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitUnlessCancelled() async throws {
        try await fulfilled.wait(for: count)
    }
}

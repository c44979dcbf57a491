// SPDX-License-Identifier: MIT

/// A door that is shut at first and, once opened, stays open: holds code at a known place until the test lets it go on.
public final class Gate: Sendable {
    private let opened = Tally()
    private let arrived = Tally()

    /// A shut gate.
    public init() {}

    /// Whether ``open()`` has been called.
    public var isOpen: Bool { opened.value > 0 }

    /// Lets everybody through, now and from now on. A second call changes nothing.
    public func open() {
        opened.add()
    }

    /// Returns when the gate is open. Cancelling the task does not end the wait: it stands for code that takes no
    /// notice.
    ///
    /// After five minutes it opens the gate itself, so that a test that has exceeded its time limit ends.
    public func wait() async {
        arrived.add()
        guard !isOpen else { return }
        let limit = Task.detached { [self] in
            try await Task.sleep(for: .seconds(300))
            open()
        }
        await opened.waitRegardless(for: 1)
        limit.cancel()
    }

    /// Returns when the gate is open.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitUnlessCancelled() async throws {
        arrived.add()
        try await opened.wait(for: 1)
    }

    /// Returns when that many callers have come to the gate, open or shut. Returns early when the task is cancelled.
    public func waitForArrivals(_ count: Int = 1) async {
        try? await arrived.wait(for: count)
    }
}

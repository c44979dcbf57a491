// SPDX-License-Identifier: MIT

import TargetKit

/// A counter for whose value a test can wait.
package final class Tally: Sendable {
    private struct State: Sendable {
        var value = 0
        var isClosed = false
        var waiters = Waiters<Int, Void>()
    }

    private let state = Locked(State())

    /// Creates a counter with the value 0.
    package init() {}

    /// The current value.
    package var value: Int { state.withLock { $0.value } }

    /// Increases the value, and resumes the tasks whose value is reached, the lowest value first.
    package func add(_ count: Int = 1) {
        let due = state.withLock { state in
            state.value += count
            guard state.waiters.count > 0 else { return [Waiters<Int, Void>.Continuation]() }
            let value = state.value
            return state.waiters.takeAll(orderedBy: <) { $0 <= value }
        }
        for continuation in due { continuation.resume() }
    }

    /// Ends counting. Tasks that wait for a higher value, now or later, receive a `CancellationError`.
    package func close() {
        let due = state.withLock { state in
            state.isClosed = true
            return state.waiters.takeAll(orderedBy: <) { _ in true }
        }
        for continuation in due { continuation.resume(throwing: CancellationError()) }
    }

    /// Waits until the value is at least a count.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, or the counter is closed before it reaches the count.
    package func wait(for count: Int) async throws {
        guard let id = state.withLock({ $0.value >= count ? nil : $0.waiters.announce() }) else { return }
        try await withTaskCancellationHandler {
            try await suspend(id, until: count)
        } onCancel: {
            state.withLock { $0.waiters.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Waits until the value is at least a count or the counter is closed, even if the task is cancelled.
    package func waitRegardless(for count: Int) async {
        guard let id = state.withLock({ $0.value >= count ? nil : $0.waiters.announce() }) else { return }
        try? await suspend(id, until: count)
    }

    private func suspend(_ id: Int, until count: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: Waiters<Int, Void>.Continuation) in
            let outcome = state.withLock { state -> Result<Void, any Error>? in
                if state.value >= count || state.isClosed {
                    state.waiters.withdraw(id)
                    return state.value >= count ? .success(()) : .failure(CancellationError())
                }
                let isParked = state.waiters.park(id, until: count, continuation)
                return isParked ? nil : .failure(CancellationError())
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}

// SPDX-License-Identifier: MIT

import TargetKit

/// A number that only grows, and that a test can wait for without polling.
package final class Tally: Sendable {
    private struct State: Sendable {
        var value = 0
        var isClosed = false
        var waiters = Waiters<Int>()
    }

    private let state = Locked(State())

    /// A tally that starts at 0.
    package init() {}

    /// The number now.
    package var value: Int { state.withLock { $0.value } }

    /// Adds that many and wakes everybody whose number is reached, the lowest number first.
    package func add(_ count: Int = 1) {
        let due = state.withLock { state in
            state.value += count
            guard state.waiters.count > 0 else { return [Waiters<Int>.Continuation]() }
            let value = state.value
            return state.waiters.takeAll(orderedBy: <) { $0 <= value }
        }
        for continuation in due { continuation.resume() }
    }

    /// Says that the number will not grow any more: who waits in vain gets a `CancellationError`, now and later.
    package func close() {
        let due = state.withLock { state in
            state.isClosed = true
            return state.waiters.takeAll(orderedBy: <) { _ in true }
        }
        for continuation in due { continuation.resume(throwing: CancellationError()) }
    }

    /// Returns as soon as the number is at least `count`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first, or the tally is closed below that number.
    package func wait(for count: Int) async throws {
        guard let id = state.withLock({ $0.value >= count ? nil : $0.waiters.announce() }) else { return }
        try await withTaskCancellationHandler {
            try await suspend(id, until: count)
        } onCancel: {
            state.withLock { $0.waiters.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Returns when the number is at least `count` or the tally is closed; cancelling the task does not end it.
    package func waitRegardless(for count: Int) async {
        guard let id = state.withLock({ $0.value >= count ? nil : $0.waiters.announce() }) else { return }
        try? await suspend(id, until: count)
    }

    private func suspend(_ id: Int, until count: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: Waiters<Int>.Continuation) in
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

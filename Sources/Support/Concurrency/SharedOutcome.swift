// SPDX-License-Identifier: MIT

/// A value that is set once, for which any number of tasks can wait. A task stops waiting when it is cancelled.
package final class SharedOutcome<Value: Sendable>: Sendable {
    private typealias Continuation = UnsafeContinuation<Value, any Error>

    private struct State: Sendable {
        var value: Value?
        var waiters: [(number: Int, continuation: Continuation)] = []
        var lastNumber = 0
    }

    private let state = Locked(State())

    package init() {}

    /// The number of waiting tasks.
    package var waiterCount: Int { state.withLock(\.waiters.count) }

    /// The value, once it is set.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func value() async throws -> Value {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { wait(number, continuation: $0) }
        } onCancel: {
            leave(number)
        }
    }

    /// Sets the value, and resumes the tasks that wait for it. A second value is ignored.
    package func settle(_ value: Value) {
        let waiters = state.withLock { state -> [(number: Int, continuation: Continuation)] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: value) }
    }

    private func wait(_ number: Int, continuation: Continuation) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            if let value = state.value { return .success(value) }
            // A cancellation before this point found no continuation.
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiters.append((number, continuation))
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func leave(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0).continuation }
        }
        waiter?.resume(throwing: CancellationError())
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// Resumes once the task that waits for a message to be sent.
struct SendCompletion: Sendable {
    private enum State: Sendable {
        case new
        case waiting(UnsafeContinuation<Void, any Error>)
        case done(Result<Void, any Error>)
    }

    private let state = Locked(State.new)

    /// Whether the message is no longer wanted.
    var isDone: Bool { state.withLock { if case .done = $0 { true } else { false } } }

    /// Waits until ``finish(_:)`` is called. Cancelling the task finishes it with a `CancellationError`.
    func wait() async throws {
        if let result = state.withLock({ if case .done(let result) = $0 { result } else { nil } }) {
            return try result.get()
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if case .done(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            finish(CancellationError())
        }
    }

    func finish(_ error: (any Error)?) {
        let result: Result<Void, any Error> = error.map(Result.failure) ?? .success(())
        let continuation = state.withLock { state -> UnsafeContinuation<Void, any Error>? in
            switch state {
            case .done: return nil
            case .new:
                state = .done(result)
                return nil
            case .waiting(let continuation):
                state = .done(result)
                return continuation
            }
        }
        continuation?.resume(with: result)
    }
}

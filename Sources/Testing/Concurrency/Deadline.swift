// SPDX-License-Identifier: MIT
import TargetKit

/// A limit in real time, for code that may never return.
package enum Deadline {
    /// Runs a function. If it doesn't return in time, or the task is cancelled, the function is cancelled. After the
    /// limit, this method doesn't wait for it.
    ///
    /// - Throws: The function's error, or ``ExpectationFailure`` after the limit.
    package static func run<Value: Sendable>(
        _ limit: Duration,
        body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = Locked<CheckedContinuation<Value, any Error>?>(nil)
        let finish = { @Sendable (outcome: Result<Value, any Error>) in
            let waiting = result.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            waiting?.resume(with: outcome)
        }
        let start = Gate()
        let work = Task {
            await start.wait()
            do { finish(.success(try await body())) } catch { finish(.failure(error)) }
        }
        let timer = Task {
            await start.wait()
            do { try await Task.sleep(for: limit) } catch { return }
            // First, because the cancelled function may return immediately, and must not count as one that was in time.
            finish(.failure(ExpectationFailure("it didn't return within \(limit)")))
            work.cancel()
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                result.withLock { $0 = continuation }
                start.open()
            }
        } onCancel: {
            work.cancel()
        }
    }

    /// The function's result; `nil` if it doesn't return in time.
    package static func value<Value: Sendable>(
        _ limit: Duration,
        body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        try? await run(limit, body: body)
    }
}

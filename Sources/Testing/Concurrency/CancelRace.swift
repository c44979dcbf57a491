// SPDX-License-Identifier: MIT

/// Runs a function in a task, and cancels the task after the caller has yielded a number of times, or when the task has
/// ended.
///
/// If the number increases from round to round, the cancellation moves from the start of the function to its end.
package func ending<Value: Sendable>(
    cancelledAfter turns: Int,
    work: @escaping @Sendable () async throws -> Value
) async -> Result<Value, any Error> {
    let end = Gate()
    let task = Task {
        defer { end.open() }
        return try await work()
    }
    for _ in 0..<turns {
        if end.isOpen { break }
        await Task.yield()
    }
    task.cancel()
    return await task.result
}

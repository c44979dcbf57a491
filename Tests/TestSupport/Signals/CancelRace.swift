// SPDX-License-Identifier: MIT

/// How a piece of work ended that was cancelled after so many turns of the tasks around it, or else ended by itself.
///
/// With more turns from round to round the cancel comes at each of its moments, without a look at the clock. Turns that come
/// after its end are not waited for: beside many other tests each of them takes its time.
public func ending<Value: Sendable>(
    cancelledAfter turns: Int,
    _ work: @escaping @Sendable () async throws -> Value
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

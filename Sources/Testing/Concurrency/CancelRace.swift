// SPDX-License-Identifier: MIT

/// How a piece of work ended that was cancelled when the caller had yielded so many times, or at its end if that came sooner.
///
/// With more turns from round to round the cancel moves from the beginning to the end, without a look at the clock. Turns after
/// the end are not waited for: beside many other tests each of them takes its time.
package func ending<Value: Sendable>(
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

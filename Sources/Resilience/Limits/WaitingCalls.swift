// SPDX-License-Identifier: MIT

/// The queue of waiting calls, ordered by priority and then by waiting time.
///
/// Every eighth call is the one that has waited longest of all, so that calls with a high priority don't starve the
/// others.
struct WaitingCalls: Sendable {
    typealias ID = UInt64
    typealias Continuation = CheckedContinuation<Void, any Error>
    /// The end of a call's wait, with success or an error.
    typealias Outcome = Result<Void, any Error>

    /// A call whose wait has ended. Without a continuation, it isn't suspended yet, and won't be.
    struct Turn: Sendable {
        fileprivate let continuation: Continuation?
        fileprivate var outcome = Outcome.success(())

        /// Resumes the call. Must be called outside the lock.
        func begin() { continuation?.resume(with: outcome) }
    }

    private struct Call: Sendable {
        let id: ID
        let priority: TaskPriority
        /// The time by which its wait must end.
        let limit: Duration?
        var continuation: Continuation?
    }

    /// The calls in order of arrival.
    private var calls: [Call] = []
    /// The calls whose wait ended before they were suspended.
    private var early: [ID: Outcome] = [:]
    private var lastID: ID = 0
    private var turns = 0

    /// Whether no call is waiting.
    var isEmpty: Bool { calls.isEmpty }
    /// Whether no call is waiting or about to be suspended.
    var isIdle: Bool { calls.isEmpty && early.isEmpty }
    var count: Int { calls.count }

    /// Adds a call, which must be suspended next.
    mutating func add(_ priority: TaskPriority, until limit: Duration? = nil) -> ID {
        lastID += 1
        calls.append(Call(id: lastID, priority: priority, limit: limit))
        return lastID
    }

    /// Suspends a call. Returns `nil` if it waits, or the outcome if its wait has already ended.
    mutating func suspend(_ id: ID, continuation: Continuation) -> Outcome? {
        if let outcome = early.removeValue(forKey: id) { return outcome }
        guard let index = calls.firstIndex(where: { $0.id == id }) else {
            return .failure(CancellationError())
        }
        calls[index].continuation = continuation
        return nil
    }

    /// Removes a call whose task is cancelled, and returns its continuation if it is suspended. Has no effect after the
    /// end of the call's wait.
    mutating func cancel(_ id: ID) -> Continuation? {
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return nil }
        let call = calls.remove(at: index)
        if call.continuation == nil { early[id] = .failure(CancellationError()) }
        return call.continuation
    }

    /// Removes and returns the next call; `nil` if none is waiting.
    mutating func next() -> Turn? {
        guard !calls.isEmpty else { return nil }
        turns &+= 1
        var index = 0
        if turns % 8 != 0 {
            for other in calls.indices where calls[other].priority > calls[index].priority { index = other }
        }
        let call = calls.remove(at: index)
        if call.continuation == nil { early[call.id] = .success(()) }
        return Turn(continuation: call.continuation)
    }

    /// Removes the calls for which a closure returns an error, given the number of calls before them and their limit.
    mutating func fail(_ error: (_ others: Int, _ limit: Duration) -> (any Error)?) -> [Turn] {
        var (kept, turns): ([Call], [Turn]) = ([], [])
        for call in calls {
            guard let limit = call.limit, let error = error(kept.count, limit) else {
                kept.append(call)
                continue
            }
            if call.continuation == nil { early[call.id] = .failure(error) }
            turns.append(Turn(continuation: call.continuation, outcome: .failure(error)))
        }
        calls = kept
        return turns
    }

    /// Waits until a call may be sent.
    ///
    /// - Parameters:
    ///   - suspend: Calls ``suspend(_:_:)`` under the lock of the calls.
    ///   - cancel: Calls ``cancel(_:)`` under the lock of the calls.
    /// - Throws: `CancellationError` if the task is cancelled before, or the error of ``fail(_:)``.
    static func wait(
        suspend: (Continuation) -> Outcome?,
        cancel: @escaping @Sendable () -> Continuation?
    ) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let outcome = suspend(continuation) { continuation.resume(with: outcome) }
            }
        } onCancel: {
            cancel()?.resume(throwing: CancellationError())
        }
    }
}

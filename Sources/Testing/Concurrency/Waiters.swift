// SPDX-License-Identifier: MIT

/// Suspended tasks, each with the condition for which it waits. It is used with a lock.
///
/// A task is announced before it is suspended, so that a cancellation in between isn't lost.
struct Waiters<Condition: Sendable, Value: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Value, any Error>

    private struct Parked: Sendable {
        let condition: Condition
        let continuation: Continuation
    }

    private var nextID = 0
    private var announced: Set<Int> = []
    private var cancelled: Set<Int> = []
    private var parked: [Int: Parked] = [:]

    /// The number of suspended tasks.
    var count: Int { parked.count }

    /// The conditions of all suspended tasks, in any order.
    var conditions: [Condition] { parked.values.map(\.condition) }

    /// The suspended tasks, in the order in which they were announced.
    var tasks: [(id: Int, condition: Condition)] {
        parked.map { ($0.key, $0.value.condition) }.sorted { $0.id < $1.id }
    }

    /// Returns an identifier for a task that is about to be suspended.
    mutating func announce() -> Int {
        nextID += 1
        announced.insert(nextID)
        return nextID
    }

    /// Removes an announced task that won't be suspended.
    mutating func withdraw(_ id: Int) {
        announced.remove(id)
        cancelled.remove(id)
    }

    /// Stores the continuation of a suspended task. Returns `false` if the task was cancelled after it was announced.
    mutating func park(_ id: Int, until condition: Condition, _ continuation: Continuation) -> Bool {
        announced.remove(id)
        if cancelled.remove(id) != nil { return false }
        parked[id] = Parked(condition: condition, continuation: continuation)
        return true
    }

    /// Removes a cancelled task, and returns its continuation if it is suspended.
    mutating func cancel(_ id: Int) -> Continuation? {
        if announced.contains(id) { cancelled.insert(id) }
        return take(id)
    }

    /// Removes a task, and returns its continuation if it is suspended.
    mutating func take(_ id: Int) -> Continuation? {
        parked.removeValue(forKey: id)?.continuation
    }

    /// Removes the tasks whose conditions are met, and returns their continuations ordered by condition and arrival.
    mutating func takeAll(
        orderedBy isBefore: (Condition, Condition) -> Bool,
        where isMet: (Condition) -> Bool
    ) -> [Continuation] {
        let due = parked.filter { isMet($0.value.condition) }.sorted { one, other in
            if isBefore(one.value.condition, other.value.condition) { return true }
            if isBefore(other.value.condition, one.value.condition) { return false }
            return one.key < other.key
        }
        for entry in due { parked[entry.key] = nil }
        return due.map(\.value.continuation)
    }
}

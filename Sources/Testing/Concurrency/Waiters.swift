// SPDX-License-Identifier: MIT

/// The suspended callers of one signal, each with the condition it waits for. It lives inside a lock.
///
/// A waiter is announced first and parked later, so that a cancel that comes in between is not lost.
struct Waiters<Condition: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Void, any Error>

    private struct Parked: Sendable {
        let condition: Condition
        let continuation: Continuation
    }

    private var nextID = 0
    private var announced: Set<Int> = []
    private var cancelled: Set<Int> = []
    private var parked: [Int: Parked] = [:]

    /// How many callers are suspended.
    var count: Int { parked.count }

    /// The conditions of all suspended callers, in no order.
    var conditions: [Condition] { parked.values.map(\.condition) }

    /// A number for a caller that is about to be suspended.
    mutating func announce() -> Int {
        nextID += 1
        announced.insert(nextID)
        return nextID
    }

    /// Takes the announcement back: the caller is not going to be suspended.
    mutating func withdraw(_ id: Int) {
        announced.remove(id)
        cancelled.remove(id)
    }

    /// Keeps the continuation, or says `false` when the caller has been cancelled since it was announced.
    mutating func park(_ id: Int, until condition: Condition, _ continuation: Continuation) -> Bool {
        announced.remove(id)
        if cancelled.remove(id) != nil { return false }
        parked[id] = Parked(condition: condition, continuation: continuation)
        return true
    }

    /// Takes a caller out because its task was cancelled; the continuation is there if it was parked already.
    mutating func cancel(_ id: Int) -> Continuation? {
        if announced.contains(id) { cancelled.insert(id) }
        return parked.removeValue(forKey: id)?.continuation
    }

    /// Takes out everybody whose condition is met, the order being by condition and then by arrival.
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

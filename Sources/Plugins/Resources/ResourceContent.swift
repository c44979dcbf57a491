// SPDX-License-Identifier: MIT
import TargetKit

/// A load that tasks wait for.
struct ResourceLoad<Value: Sendable>: Sendable {
    let number: Int
    let outcome = SharedOutcome<Result<Value, TargetKitError>>()
    let task = Locked<Task<Void, Never>?>(nil)
    var waiterCount = 1
    /// The number of the last update that began before the load.
    let lastUpdate: Int
}

/// The value of a resource, its load, and the updates that are in progress.
struct ResourceContent<Value: Decodable & Sendable>: Sendable {
    /// A change that is shown before its call has ended.
    private struct Update: Sendable {
        let number: Int
        let change: @Sendable (inout Value) -> Void
        /// Whether its call has succeeded.
        var isConfirmed = false

        func changed(_ value: Value) -> Value {
            var value = value
            change(&value)
            return value
        }
    }

    /// The number of changes of the content.
    var version = 0
    /// The state with the changes of the updates.
    private(set) var state = Resource<Value>.State()
    /// When the value was loaded.
    private(set) var loadingTime: Duration?
    var isInvalidated = false
    private(set) var load: ResourceLoad<Value>?

    /// The value without the changes of updates.
    private var base: Value?
    /// In the order in which they began. The confirmed ones are kept while a load is in progress that began before them.
    private var updates: [Update] = []
    private var lastNumber = 0

    // MARK: Loading

    /// Joins the load in progress, or begins one.
    mutating func joinLoad() -> (load: ResourceLoad<Value>, isNew: Bool) {
        if var load {
            load.waiterCount += 1
            self.load = load
            return (load, false)
        }
        lastNumber += 1
        let load = ResourceLoad<Value>(number: lastNumber, lastUpdate: lastNumber)
        self.load = load
        state.isLoading = true
        return (load, true)
    }

    /// Returns whether no other task waits for a load. It is then no longer in progress.
    mutating func leaveLoad(_ number: Int) -> Bool {
        guard load?.number == number else { return false }
        load?.waiterCount -= 1
        guard load?.waiterCount == 0 else { return false }
        endLoad()
        return true
    }

    /// Returns the result for the tasks that wait for a load.
    mutating func end(
        _ number: Int,
        with result: Result<Value, TargetKitError>,
        at time: Duration
    ) -> Result<Value, TargetKitError> {
        guard let load, load.number == number else {
            // It was replaced meanwhile.
            return state.value.map { .success($0) } ?? result
        }
        switch result {
        case .success(let value):
            accept(value, at: time)
            updates.removeAll { $0.number <= load.lastUpdate }
        case .failure(let error): state.error = error
        }
        endLoad()
        if case .failure = result { return result }
        return state.value.map { .success($0) } ?? result
    }

    mutating func replace(by value: Value, at time: Duration) {
        accept(value, at: time)
        updates = []
        endLoad()
    }

    private mutating func accept(_ value: Value, at time: Duration) {
        base = value
        (loadingTime, isInvalidated) = (time, false)
        state.error = nil
    }

    private mutating func endLoad() {
        load = nil
        state.isLoading = false
        show()
    }

    // MARK: Updates

    /// Shows a change, and returns its number.
    mutating func begin(_ change: @escaping @Sendable (inout Value) -> Void) -> Int {
        lastNumber += 1
        updates.append(Update(number: lastNumber, change: change))
        show()
        return lastNumber
    }

    /// Ends an update. Does nothing if a newer value has replaced its change.
    mutating func end(_ number: Int, isConfirmed: Bool) {
        guard let index = updates.firstIndex(where: { $0.number == number }) else { return }
        if isConfirmed { updates[index].isConfirmed = true } else { updates.remove(at: index) }
        show()
    }

    /// Applies the changes to the value. Those that are confirmed become part of it, unless a load in progress or an
    /// earlier update can still change what they are applied to.
    private mutating func show() {
        while load == nil, let first = updates.first, first.isConfirmed {
            base = base.map { first.changed($0) }
            updates.removeFirst()
        }
        state.value = base.map { base in updates.reduce(base) { $1.changed($0) } }
    }
}

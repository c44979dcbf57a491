// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A load for which tasks wait.
struct ResourceLoad<Value: Sendable>: Sendable {
    let number: Int
    /// Whether a cached response must be validated.
    let validates: Bool
    let outcome = SharedOutcome<Result<Value, TargetKitError>>()
    let task = Locked<Task<Void, Never>?>(nil)
    var waiterCount = 1
}

/// The value of a resource, its load, and the updates that are in progress.
struct ResourceContent<Value: Decodable & Sendable>: Sendable {
    /// An optimistic change whose call is in progress.
    private struct Update: Sendable {
        let number: Int
        let change: @Sendable (inout Value) -> Void
        /// The sequence number of its call's success.
        var confirmation: Int?
        /// Whether a value that may include the change was loaded during the call.
        var mayIncludeChange = false

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
    /// The time when the value was loaded.
    private(set) var loadingTime: Duration?
    /// The number of the last invalidation since then.
    private var invalidation: Int?
    private(set) var load: ResourceLoad<Value>?
    /// Replaced loads for which tasks still wait.
    private var replacedLoads: [ResourceLoad<Value>] = []

    /// The value without the changes of updates.
    private var loadedValue: Value?
    /// The updates in the order in which they began.
    private var updates: [Update] = []
    private var lastNumber = 0
    /// The greatest number of a load that began before the value was removed.
    private var lastReset = 0

    // MARK: Loading

    /// Joins the load in progress, or begins one. A task that requires validation doesn't join a load that uses a
    /// cached response without it.
    mutating func joinLoad(validates: Bool) -> (load: ResourceLoad<Value>, isNew: Bool) {
        if var load, load.validates || !validates {
            load.waiterCount += 1
            self.load = load
            return (load, false)
        }
        keepReplacedLoad()
        lastNumber += 1
        let load = ResourceLoad<Value>(number: lastNumber, validates: validates)
        self.load = load
        state.isLoading = true
        return (load, true)
    }

    /// Whether tasks wait for a load in progress.
    func isWanted(_ number: Int) -> Bool {
        load?.number == number || replacedLoads.contains { $0.number == number }
    }

    /// Stores the load in progress while tasks wait for it, before it is replaced.
    private mutating func keepReplacedLoad() {
        if let load { replacedLoads.append(load) }
    }

    /// Removes a task from a load. Returns whether no other task waits for the load, which then is no longer in
    /// progress.
    mutating func leaveLoad(_ number: Int) -> Bool {
        if let index = replacedLoads.firstIndex(where: { $0.number == number }) {
            replacedLoads[index].waiterCount -= 1
            guard replacedLoads[index].waiterCount == 0 else { return false }
            replacedLoads.remove(at: index)
            return true
        }
        guard load?.number == number else { return false }
        load?.waiterCount -= 1
        guard load?.waiterCount == 0 else { return false }
        endLoad()
        return true
    }

    /// Returns the result for the tasks that wait for a load.
    mutating func end(
        _ number: Int,
        with result: Result<(value: Value, age: Duration), TargetKitError>,
        at time: Duration
    ) -> Result<Value, TargetKitError> {
        guard let load, load.number == number else {
            // The load was replaced, unless the value was removed since it began.
            replacedLoads.removeAll { $0.number == number }
            if number <= lastReset { return result.map(\.value) }
            return state.value.map { .success($0) } ?? result.map(\.value)
        }
        switch result {
        case .success((let value, let age)):
            loadedValue = value
            loadingTime = time - age
            state.error = nil
            if let invalidation, invalidation < number { self.invalidation = nil }
            updates.removeAll { $0.confirmation.map { $0 < number } ?? false }
            for index in updates.indices { updates[index].mayIncludeChange = true }
        case .failure(let error): state.error = error
        }
        endLoad()
        if case .success = result, let value = state.value { return .success(value) }
        return result.map(\.value)
    }

    mutating func replace(by value: Value, at time: Duration) {
        keepReplacedLoad()
        loadedValue = value
        loadingTime = time
        invalidation = nil
        state.error = nil
        updates = []
        endLoad()
    }

    /// Removes the value and its state. Returns the loads in progress.
    mutating func reset() -> [ResourceLoad<Value>] {
        defer {
            let (version, number) = (version, lastNumber)
            self = ResourceContent()
            (self.version, lastNumber, lastReset) = (version, number, number)
        }
        keepReplacedLoad()
        return replacedLoads
    }

    var isInvalidated: Bool { invalidation != nil }

    mutating func invalidate() {
        lastNumber += 1
        invalidation = lastNumber
    }

    private mutating func endLoad() {
        load = nil
        state.isLoading = false
        applyUpdates()
    }

    // MARK: Updates

    /// Shows a change, and returns its number.
    mutating func begin(_ change: @escaping @Sendable (inout Value) -> Void) -> Int {
        lastNumber += 1
        updates.append(Update(number: lastNumber, change: change))
        applyUpdates()
        return lastNumber
    }

    /// Ends an update. Does nothing if its change was replaced.
    mutating func end(_ number: Int, isConfirmed: Bool) {
        guard let index = updates.firstIndex(where: { $0.number == number }) else { return }
        if isConfirmed {
            lastNumber += 1
            updates[index].confirmation = lastNumber
        } else {
            updates.remove(at: index)
        }
        applyUpdates()
    }

    /// Applies the changes to the value. Confirmed changes become part of it, unless a load in progress or an earlier
    /// update can still change their base.
    private mutating func applyUpdates() {
        while load == nil, let first = updates.first, first.confirmation != nil {
            loadedValue = loadedValue.map { first.changed($0) }
            if first.mayIncludeChange { invalidate() }
            updates.removeFirst()
        }
        state.value = loadedValue.map { loadedValue in updates.reduce(loadedValue) { $1.changed($0) } }
    }
}

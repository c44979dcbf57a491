// SPDX-License-Identifier: MIT
import TargetKit

/// The calls and repetitions that a ``RetryPlugin``, and the hedged requests that count with it, share.
final class RetryCounter: Sendable {
    private let elapsedTime: ElapsedTime
    private let tracker: Locked<RetryTracker>

    init(_ budget: RetryBudget, clock: any Clock<Duration>) {
        elapsedTime = ElapsedTime(clock)
        tracker = Locked(RetryTracker(budget))
    }

    /// Counts a call that is sent for the first time.
    func countCall(in scope: RequestScope) {
        let time = elapsedTime.current
        tracker.withLock { $0.countCall(in: scope, at: time) }
    }

    /// Counts a repetition; returns `false` if the budget doesn't allow it.
    func takeRepetition(in scope: RequestScope) -> Bool {
        let time = elapsedTime.current
        return tracker.withLock { $0.takeRepetition(in: scope, at: time) }
    }
}

/// The calls and repetitions of each scope, against its ``RetryBudget``.
///
/// A scope that has a parent is counted with the outermost one.
struct RetryTracker: Sendable {
    private struct Account: Sendable {
        weak var scope: RequestScope?
        var count: RollingCount
    }

    private let budget: RetryBudget
    private var accounts: [ObjectIdentifier: Account] = [:]

    init(_ budget: RetryBudget) {
        self.budget = budget
    }

    /// Counts a call that is sent for the first time.
    mutating func countCall(in scope: RequestScope, at now: Duration) {
        withCount(of: scope) { $0.add(at: now) }
    }

    /// Counts a repetition; returns `false` if the budget doesn't allow it.
    mutating func takeRepetition(in scope: RequestScope, at now: Duration) -> Bool {
        let budget = budget
        return withCount(of: scope) { count in
            let totals = count.totals(at: now)
            guard budget.allows(repetitionsSoFar: totals.marked, calls: totals.all) else { return false }
            count.mark(at: now)
            return true
        }
    }

    private mutating func withCount<Result>(
        of scope: RequestScope,
        change: (inout RollingCount) -> Result
    ) -> Result {
        var outermost = scope
        while let parent = outermost.parent { outermost = parent }
        let key = ObjectIdentifier(outermost)
        // The identifier of a released scope may be that of a new one.
        if let index = accounts.index(forKey: key), accounts.values[index].scope === outermost {
            // In place: a copy would copy the counts, too.
            return change(&accounts.values[index].count)
        }
        accounts = accounts.filter { $0.value.scope != nil }
        var count = RollingCount(length: budget.window)
        defer { accounts[key] = Account(scope: outermost, count: count) }
        return change(&count)
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// The counts of calls and retries that a ``RetryPlugin`` shares with hedged requests.
package final class RetryCounter: Sendable {
    private let elapsedTime: ElapsedTime
    private let tracker: Locked<RetryTracker>

    package init(_ budget: RetryBudget, clock: any Clock<Duration>) {
        elapsedTime = ElapsedTime(clock)
        tracker = Locked(RetryTracker(budget))
    }

    /// Counts the first attempt of a call.
    package func countCall(in scope: RequestScope) {
        let time = elapsedTime.current
        tracker.withLock { $0.countCall(in: scope, at: time) }
    }

    /// Counts a retry, and returns `false` if the budget doesn't allow it.
    package func takeRepetition(in scope: RequestScope) -> Bool {
        let time = elapsedTime.current
        return tracker.withLock { $0.takeRepetition(in: scope, at: time) }
    }
}

/// The calls and retries of each scope, compared with its ``RetryBudget``.
///
/// A scope with a parent is counted with the outermost scope.
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

    /// Counts the first attempt of a call.
    mutating func countCall(in scope: RequestScope, at now: Duration) {
        withCount(of: scope) { $0.add(at: now) }
    }

    /// Counts a retry, and returns `false` if the budget doesn't allow it.
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
        let outermost = scope.outermost
        let key = ObjectIdentifier(outermost)
        // A new scope may have the identifier of a released one.
        if let index = accounts.index(forKey: key), accounts.values[index].scope === outermost {
            // Changed in place, because a copy would also copy the counts.
            return change(&accounts.values[index].count)
        }
        accounts = accounts.filter { $0.value.scope != nil }
        var count = RollingCount(length: budget.window)
        defer { accounts[key] = Account(scope: outermost, count: count) }
        return change(&count)
    }
}

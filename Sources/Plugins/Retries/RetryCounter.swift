// SPDX-License-Identifier: MIT
import TargetKit

/// The calls and retries of each scope, compared with its ``RetryBudget``. A ``RetryPlugin`` shares them with hedged
/// requests.
///
/// A scope with a parent is counted with the outermost scope.
package final class RetryCounter: Sendable {
    private struct Account: Sendable {
        weak var scope: RequestScope?
        var count: RollingCount
    }

    private let budget: RetryBudget
    private let elapsedTime: ElapsedTime
    private let accounts = Locked<[Account]>([])

    package init(_ budget: RetryBudget, clock: any Clock<Duration>) {
        self.budget = budget
        elapsedTime = ElapsedTime(clock)
    }

    /// Counts the first attempt of a call.
    package func countCall(in scope: RequestScope) {
        withCount(of: scope) { $0.add(at: $1) }
    }

    /// Counts a retry, and returns `false` if the budget doesn't allow it.
    package func takeRepetition(in scope: RequestScope) -> Bool {
        withCount(of: scope) { count, now in
            let totals = count.totals(at: now)
            guard budget.allows(repetitionsSoFar: totals.marked, calls: totals.all) else { return false }
            count.mark(at: now)
            return true
        }
    }

    private func withCount<Result>(
        of scope: RequestScope,
        change: (inout RollingCount, _ now: Duration) -> Result
    ) -> Result {
        let (now, outermost) = (elapsedTime.current, scope.outermost)
        return accounts.withLock { accounts in
            guard let index = accounts.firstIndex(where: { $0.scope === outermost }) else {
                accounts.removeAll { $0.scope == nil }
                var count = RollingCount(length: budget.window)
                defer { accounts.append(Account(scope: outermost, count: count)) }
                return change(&count, now)
            }
            // Changed in place, because a copy would also copy the counts.
            return change(&accounts[index].count, now)
        }
    }
}

extension RequestScope {
    /// This scope, or its ancestor without a parent.
    var outermost: RequestScope { parent?.outermost ?? self }
}

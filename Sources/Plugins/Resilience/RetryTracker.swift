// SPDX-License-Identifier: MIT
import TargetKit

/// The calls and repetitions of each scope, against its ``RetryBudget``.
///
/// A scope that has a parent is counted with the outermost one: whether the calls of a screen or of the session overload the
/// server is the same to it.
struct RetryLedger: Sendable {
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

    /// Counts a repetition, if there is room for it.
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
        _ change: (inout RollingCount) -> Result
    ) -> Result {
        var outermost = scope
        while let parent = outermost.parent { outermost = parent }
        let key = ObjectIdentifier(outermost)
        // The place of a scope that is gone may be another one's by now.
        if accounts[key]?.scope !== outermost {
            accounts = accounts.filter { $0.value.scope != nil }
            accounts[key] = Account(scope: outermost, count: RollingCount(length: budget.window))
        }
        var account = accounts[key] ?? Account(scope: outermost, count: RollingCount(length: budget.window))
        accounts[key] = nil
        let result = change(&account.count)
        accounts[key] = account
        return result
    }
}

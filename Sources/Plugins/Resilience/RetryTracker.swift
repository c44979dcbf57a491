// SPDX-License-Identifier: MIT
import TargetKit

/// The calls and repetitions of each scope, against its ``RetryBudget``.
///
/// A scope that has a parent is counted with the outermost one: whether the calls of a screen or of the session overload the
/// server is the same to it.
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

/// How many repetitions a ``RetryPlugin`` may add to the calls of a scope, so that an outage is not made worse by those who wait
/// for its end.
///
/// Within the ``window`` there are no more repetitions than ``share`` of the calls, or than ``minimum`` where that is more.
public struct RetryBudget: Sendable, Hashable {
    /// Repetitions for each call. Default 0.2: at most 20 % come on top.
    let share: Double
    /// So many repetitions are allowed in any case, so that a call that comes alone can be tried again. Default 10.
    let minimum: Int
    /// How long calls and repetitions are counted, to a tenth of it. Default 60 s.
    let window: Duration

    /// A budget; by default a fifth more, and ten within a minute in any case.
    public init(share: Double = 0.2, minimum: Int = 10, window: Duration = .seconds(60)) {
        self.share = share
        self.minimum = minimum
        self.window = window
    }

    /// No bound but that of ``RetryPolicy/attempts``.
    public static let unlimited = RetryBudget(minimum: .max)

    /// Whether one more repetition stays within the budget.
    func allows(repetitionsSoFar: Int, calls: Int) -> Bool {
        if repetitionsSoFar < minimum { return true }
        return Double(repetitionsSoFar) + 1 <= share * Double(calls)
    }
}

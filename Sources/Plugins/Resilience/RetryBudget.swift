// SPDX-License-Identifier: MIT

/// How many repetitions a ``RetryPlugin`` may add to the calls of a scope, so that an outage is not made worse by those who wait
/// for its end.
///
/// Within the ``window`` there are no more repetitions than ``share`` of the calls, or than ``minimum`` where that is more.
public struct RetryBudget: Sendable, Hashable {
    /// Repetitions for each call. Default 0.2: at most 20 % come on top.
    public var share: Double
    /// So many repetitions are allowed in any case, so that a call that comes alone can be tried again. Default 10.
    public var minimum: Int
    /// How long calls and repetitions are counted, to a tenth of it. Default 60 s.
    public var window: Duration

    /// A budget.
    public init(share: Double = 0.2, minimum: Int = 10, window: Duration = .seconds(60)) {
        self.share = share
        self.minimum = minimum
        self.window = window
    }

    /// A fifth more, ten within a minute in any case.
    public static let standard = RetryBudget()

    /// No bound but that of ``RetryPolicy/attempts``.
    public static let unlimited = RetryBudget(minimum: .max)

    /// Whether one more repetition stays within the budget.
    func allows(repetitionsSoFar: Int, calls: Int) -> Bool {
        if repetitionsSoFar < minimum { return true }
        return Double(repetitionsSoFar) + 1 <= share * Double(calls)
    }
}

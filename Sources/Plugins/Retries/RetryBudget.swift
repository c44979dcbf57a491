// SPDX-License-Identifier: MIT

/// A limit on the retries of a ``RetryPlugin`` within a scope, so that retries don't prolong an outage.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries per call. Default: 0.2, so that there are at most 20 % more requests.
    let share: Double
    /// The number of retries that are always allowed, so that a single call can be retried. Default: 10.
    let minimum: Int
    /// The time for which calls and retries count, with a precision of a tenth. Default: 60 seconds.
    let window: Duration

    /// Creates a budget. Within its window, it allows retries up to a share of the calls or a minimum, whichever is
    /// greater.
    ///
    /// - Parameters:
    ///   - share: The number of retries per call; default: 0.2.
    ///   - minimum: The number of retries that are always allowed; default: 10.
    ///   - window: The time for which calls and retries count, with a precision of a tenth; default: 60 seconds.
    public init(share: Double = 0.2, minimum: Int = 10, window: Duration = .seconds(60)) {
        self.share = share
        self.minimum = minimum
        self.window = window
    }

    /// No limit other than the number of attempts of the ``RetryPolicy``.
    public static let unlimited = RetryBudget(minimum: .max)

    /// Whether another retry is allowed.
    func allows(repetitionsSoFar: Int, calls: Int) -> Bool {
        if repetitionsSoFar < minimum { return true }
        return Double(repetitionsSoFar) + 1 <= share * Double(calls)
    }
}

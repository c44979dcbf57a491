// SPDX-License-Identifier: MIT

/// A limit of time that starts at once or later: of a call, or of an exchange with its redirects.
final class Deadline: Sendable {
    private let limit: Duration
    private let elapsedTime: ElapsedTime
    /// The clock on which the call waits for the deadline; `nil` if a transport measures the time itself.
    let clock: (any Clock<Duration>)?
    private let end: Locked<Duration?>

    init(
        in limit: Duration,
        by elapsedTime: ElapsedTime,
        on clock: (any Clock<Duration>)? = nil,
        isStarted: Bool = true
    ) {
        self.limit = LongestWait.limited(limit)
        self.elapsedTime = elapsedTime
        self.clock = clock
        end = Locked(isStarted ? elapsedTime.current + self.limit : nil)
    }

    /// Starts the time, unless it has started.
    func start() {
        let now = elapsedTime.current
        end.withLock { $0 = $0 ?? now + limit }
    }

    /// The time until the deadline; zero after it.
    var remainingTime: Duration {
        guard let end = end.withLock(\.self) else { return limit }
        return max(.zero, end - elapsedTime.current)
    }

    /// Waits until the deadline.
    func wait() async throws {
        start()
        try await clock?.wait(for: remainingTime)
    }

    /// A deadline by this clock, after a time from now.
    func restarted(in limit: Duration) -> Deadline { Deadline(in: limit, by: elapsedTime) }
}

extension CallTimeout {
    /// Checks that no limit is zero or less.
    func check() throws(InvalidRequest) {
        if let exchange, exchange <= .zero { throw .invalidTimeout(exchange) }
        if let wholeCall, wholeCall <= .zero { throw .invalidTimeout(wholeCall) }
    }

    /// The deadline of a call that starts now; `nil` without a limit for the whole call.
    func deadline(by elapsedTime: @autoclosure () -> ElapsedTime) -> Deadline? {
        guard let wholeCall, wholeCall > .zero else { return nil }
        return Deadline(in: wholeCall, by: elapsedTime())
    }
}

// SPDX-License-Identifier: MIT

/// A limit of time that starts at once or later: of a call, or of an exchange with its redirects.
final class Deadline: Sendable {
    private struct State: Sendable {
        /// The time from the start to the end.
        var limit: Duration
        /// `nil` while the time doesn't run.
        var end: Duration?
        /// Settled when the time runs again after a stop.
        var restart: SharedOutcome<Void>?
    }

    private let elapsedTime: ElapsedTime
    /// The clock on which the call waits for the deadline; `nil` if a transport measures the time itself.
    let clock: (any Clock<Duration>)?
    private let state: Locked<State>

    init(
        in limit: Duration,
        by elapsedTime: ElapsedTime,
        on clock: (any Clock<Duration>)? = nil,
        isStarted: Bool = true
    ) {
        let limit = LongestWait.limited(limit)
        self.elapsedTime = elapsedTime
        self.clock = clock
        state = Locked(State(limit: limit, end: isStarted ? elapsedTime.current + limit : nil))
    }

    /// Starts the time, unless it runs.
    func start() {
        let now = elapsedTime.current
        let restart = state.withLock { state in
            defer { state.restart = nil }
            state.end = state.end ?? now + state.limit
            return state.restart
        }
        restart?.settle(())
    }

    /// Stops the time until the next start.
    func stop() {
        let now = elapsedTime.current
        state.withLock { state in
            guard let end = state.end else { return }
            state = State(limit: max(.zero, end - now), restart: SharedOutcome())
        }
    }

    /// The time until the deadline; zero after it.
    var remainingTime: Duration {
        let state = state.withLock(\.self)
        return state.end.map { max(.zero, $0 - elapsedTime.current) } ?? state.limit
    }

    /// Waits until the deadline by a clock.
    func wait(on clock: any Clock<Duration>) async throws {
        var end: Duration?
        repeat {
            end = state.withLock(\.end)
            try await clock.wait(for: remainingTime)
            try await state.withLock(\.restart)?.value()
            // The time while it was stopped isn't counted.
        } while state.withLock(\.end) != end
    }
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

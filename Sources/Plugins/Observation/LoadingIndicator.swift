// SPDX-License-Identifier: MIT
import TargetKit

/// Counts the calls that are shown, and shows and hides the indicator.
///
/// Only `settle` determines what is shown, from the count and the time. A timer calls it again.
final class LoadingIndicator: Sendable {
    private struct State: Sendable {
        var callCount = 0
        /// The time since which calls are running.
        var busySince = Duration.zero
        /// The time since which the indicator is shown; `nil` if it isn't.
        var shownSince: Duration?
        var timer: Timer?
        var lastTimer = 0
    }

    private struct Timer: Sendable {
        let number: Int
        let task: Task<Void, Never>
    }

    private let delay: Duration
    private let shortest: Duration
    private let clock: any Clock<Duration>
    private let elapsedTime: ElapsedTime
    private let shown: OrderedCallback<State, Bool>

    init(
        delay: Duration,
        shortest: Duration,
        clock: any Clock<Duration>,
        onChange: @escaping @Sendable (Bool) -> Void
    ) {
        self.delay = delay
        self.shortest = shortest
        self.clock = clock
        elapsedTime = ElapsedTime(clock)
        shown = OrderedCallback(State(), callback: onChange)
    }

    func begin() {
        let now = elapsedTime.current
        change(at: now) { state in
            state.callCount += 1
            if state.callCount == 1 { state.busySince = now }
        }
    }

    func end() {
        change(at: elapsedTime.current) { $0.callCount -= 1 }
    }

    private func timerFired(_ number: Int) {
        change(at: elapsedTime.current) { state in
            if state.timer?.number == number { state.timer = nil }
        }
    }

    private func change(at now: Duration, change: @Sendable (inout State) -> Void) {
        let superfluous = shown.update { state, events -> Task<Void, Never>? in
            change(&state)
            let wait = settle(&state, events: &events, at: now)
            return keepTime(&state, wait: wait)
        }
        superfluous?.cancel()
    }

    /// Shows or hides the indicator when it is due.
    ///
    /// - Returns: The time until the next change; `nil` if none is due.
    private func settle(_ state: inout State, events: inout [Bool], at now: Duration) -> Duration? {
        let isBusy = state.callCount > 0
        guard isBusy != (state.shownSince != nil) else { return nil }
        let due = state.shownSince.map { $0 + shortest } ?? state.busySince + delay
        guard now >= due else { return due - now }
        state.shownSince = isBusy ? now : nil
        events.append(isBusy)
        return nil
    }

    /// Starts the required timer.
    ///
    /// - Returns: The previous timer, which the caller must cancel outside the lock.
    private func keepTime(_ state: inout State, wait: Duration?) -> Task<Void, Never>? {
        guard let wait else {
            defer { state.timer = nil }
            return state.timer?.task
        }
        guard state.timer == nil else { return nil }
        state.lastTimer += 1
        let number = state.lastTimer
        let clock = clock
        let task = Task {
            // A cancelled timer has been removed from the state.
            guard (try? await clock.wait(for: wait)) != nil else { return }
            timerFired(number)
        }
        state.timer = Timer(number: number, task: task)
        return nil
    }
}

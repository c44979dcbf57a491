// SPDX-License-Identifier: MIT
import TargetKit

/// The calls that are shown, and whether anything is.
///
/// What has to be shown follows from the time alone, in one place (`settle`); a timer only asks it again.
final class LoadingIndicator: Sendable {
    private struct State: Sendable {
        var calls: Set<RequestContext.ID> = []
        /// Since when calls run.
        var busySince = Duration.zero
        /// Since when it is shown; `nil` when it is not.
        var shownSince: Duration?
        var timer: Timer?
        var lastTimer = 0
    }

    private struct Timer: Sendable {
        let number: Int
        let task: Task<Void, Never>
    }

    private let timing: LoadingPlugin.Timing
    private let elapsedTime: ElapsedTime
    private let shown: OrderedCallback<State, Bool>

    init(timing: LoadingPlugin.Timing, onChange: @escaping @Sendable (Bool) -> Void) {
        self.timing = timing
        elapsedTime = ElapsedTime(timing.clock)
        shown = OrderedCallback(State(), callback: onChange)
    }

    func begin(_ id: RequestContext.ID) {
        let now = elapsedTime.current
        change(at: now) { state in
            guard state.calls.insert(id).inserted else { return }
            if state.calls.count == 1 { state.busySince = now }
        }
    }

    func end(_ id: RequestContext.ID) {
        change(at: elapsedTime.current) { state in
            _ = state.calls.remove(id)
        }
    }

    private func timerRanOut(_ number: Int) {
        change(at: elapsedTime.current) { state in
            if state.timer?.number == number { state.timer = nil }
        }
    }

    private func change(at now: Duration, _ change: @Sendable (inout State) -> Void) {
        let superfluous = shown.update { state, events -> Task<Void, Never>? in
            change(&state)
            let wait = settle(&state, &events, at: now)
            return keepTime(&state, wait)
        }
        superfluous?.cancel()
    }

    /// Shows or hides, if it is time to.
    ///
    /// - Returns: how long it is until then; `nil` when nothing is to be changed.
    private func settle(_ state: inout State, _ events: inout [Bool], at now: Duration) -> Duration? {
        let isBusy = !state.calls.isEmpty
        guard isBusy != (state.shownSince != nil) else { return nil }
        let due = state.shownSince.map { $0 + timing.shortest } ?? state.busySince + timing.delay
        guard now >= due else { return due - now }
        state.shownSince = isBusy ? now : nil
        events.append(isBusy)
        return nil
    }

    /// Starts the timer that is needed, or takes out the one that no longer is, for the caller to cancel without the
    /// lock.
    private func keepTime(_ state: inout State, _ wait: Duration?) -> Task<Void, Never>? {
        guard let wait else {
            defer { state.timer = nil }
            return state.timer?.task
        }
        guard state.timer == nil else { return nil }
        state.lastTimer += 1
        let number = state.lastTimer
        let clock = timing.clock
        let task = Task {
            // A timer that was cancelled has been taken out already.
            guard (try? await clock.sleep(for: LongestWait.limited(wait))) != nil else { return }
            timerRanOut(number)
        }
        state.timer = Timer(number: number, task: task)
        return nil
    }
}

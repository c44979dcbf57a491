// SPDX-License-Identifier: MIT
import TargetKitPlugins

/// The circuit of one server. It is closed until too many calls fail, then open for a time, and then half-open until
/// probes show whether calls succeed again.
struct Circuit: Sendable {
    /// The admission of one attempt, whose end is reported once.
    struct Admission: Sendable {
        fileprivate let turn: Int
        fileprivate let number: Int
        fileprivate let isProbe: Bool
    }

    private enum Phase: Sendable {
        case closed
        case open(since: Duration)
        case isolated
        /// The admission times of the probes in flight, by number, and the number of successful probes.
        case halfOpen(inFlight: [Int: Duration], passed: Int)
    }

    private let policy: CircuitBreakerPolicy
    private var phase = Phase.closed
    private var halfOpenSince = Duration.zero
    private var count: RollingCount
    /// Increases with each phase change, because an attempt that was admitted earlier isn't evidence about the server's
    /// current state.
    private var turn = 0
    private var lastNumber = 0
    /// The number of admitted attempts that haven't ended, in any phase.
    private var unfinished = 0

    init(_ policy: CircuitBreakerPolicy) {
        self.policy = policy
        count = RollingCount(length: policy.window)
    }

    /// The state after the last call. An open circuit stays open until the next call.
    var settledState: CircuitState {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .isolated: .isolated
        case .halfOpen: .halfOpen
        }
    }

    /// The current state. An open circuit is half-open after its time, even before the next call.
    func state(at now: Duration) -> CircuitState {
        switch phase {
        case .closed: .closed
        case .open: remaining(at: now) > .zero ? .open : .halfOpen
        case .isolated: .isolated
        case .halfOpen: .halfOpen
        }
    }

    /// The remaining time for which all calls are rejected.
    func remaining(at now: Duration) -> Duration {
        guard case .open(let since) = phase else { return .zero }
        return max(.zero, policy.openFor - (now - since))
    }

    /// Whether an attempt would be admitted.
    private func admits(at now: Duration) -> Bool {
        switch phase {
        case .closed: true
        case .open: remaining(at: now) == .zero
        case .isolated: false
        case .halfOpen(let inFlight, let passed):
            inFlight.values.count { now - $0 < policy.probeTimeout } + passed < probes
        }
    }

    /// Admits an attempt; returns `nil` if it is rejected.
    mutating func admit(at now: Duration) -> Admission? {
        guard admits(at: now) else { return nil }
        if case .open = phase {
            enter(.halfOpen(inFlight: [:], passed: 0))
            halfOpenSince = now
        }
        lastNumber += 1
        var isProbe = false
        if case .halfOpen(var inFlight, let passed) = phase {
            inFlight[lastNumber] = now
            phase = .halfOpen(inFlight: inFlight, passed: passed)
            isProbe = true
        }
        unfinished += 1
        return Admission(turn: turn, number: lastNumber, isProbe: isProbe)
    }

    /// Records the end of an admitted attempt.
    mutating func ended(_ admission: Admission, verdict: Verdict, at now: Duration) {
        unfinished -= 1
        guard admission.turn == turn else { return }
        switch (phase, verdict) {
        case (.open, _), (.isolated, _), (.closed, .nothing): break
        case (.closed, _):
            count.add(isMarked: verdict == .failed, at: now)
            if verdict == .failed, hasTooManyFailures(at: now) { enter(.open(since: now)) }
        case (.halfOpen, .failed): enter(.open(since: now))
        case (.halfOpen(var inFlight, var passed), _):
            inFlight[admission.number] = nil
            if verdict == .worked { passed += 1 }
            phase = .halfOpen(inFlight: inFlight, passed: passed)
            guard passed >= probes else { return }
            count = RollingCount(length: policy.window)
            enter(.closed)
        }
    }

    /// Counts a call as a failure because the body of its stream failed, although its head counted as a success. It
    /// counts even if the head arrived before the circuit last changed.
    mutating func streamFailed(_ admission: Admission, at now: Duration) {
        switch phase {
        case .closed:
            count.mark(at: now)
            let hasClosed = admission.isProbe && admission.turn == turn - 1
            if hasClosed || hasTooManyFailures(at: now) { enter(.open(since: now)) }
        case .halfOpen where admission.turn == turn: enter(.open(since: now))
        case .open, .isolated, .halfOpen: break
        }
    }

    /// Closes the circuit, and discards its counts.
    mutating func reset() {
        count = RollingCount(length: policy.window)
        enter(.closed)
    }

    /// Rejects all calls until ``reset()``.
    mutating func isolate() {
        enter(.isolated)
    }

    /// Whether the circuit can be removed, because it has no attempt in flight, and no recent call.
    func isIdle(at now: Duration) -> Bool {
        guard unfinished == 0 else { return false }
        switch phase {
        case .closed: return count.totals(at: now).all == 0
        case .open(let since): return now - since >= policy.openFor + policy.window
        case .isolated: return false
        // Its probe was cancelled, or wasn't sufficient.
        case .halfOpen: return now - halfOpenSince >= policy.openFor + policy.window
        }
    }

    private var probes: Int { max(policy.probes, 1) }

    private func hasTooManyFailures(at now: Duration) -> Bool {
        let totals = count.totals(at: now)
        return totals.marked >= max(policy.failures, 1) && Double(totals.marked) >= policy.share * Double(totals.all)
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        turn += 1
    }
}

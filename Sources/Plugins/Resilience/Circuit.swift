// SPDX-License-Identifier: MIT

/// One circuit: closed until too much fails, then open for a time, then half open until it is seen whether calls work.
struct Circuit: Sendable {
    /// That a call may go. Whoever has one has to say how it ended.
    struct Admission: Sendable {
        fileprivate let turn: Int
    }

    /// What an ending says about the server.
    enum Verdict: Sendable {
        case worked
        case failed
        /// Nothing: it was cancelled, never sent, or failed for a reason of its own.
        case nothing
    }

    private enum Phase: Sendable {
        case closed
        case open(since: Duration)
        /// Calls that are out, and calls that have come back well.
        case halfOpen(out: Int, passed: Int)
    }

    private let policy: CircuitBreakerPolicy
    private var phase = Phase.closed
    private var halfOpenSince = Duration.zero
    private var count: RollingCount
    /// Grows with each change of the phase: a call that was let through before says nothing about the server now.
    private var turn = 0

    init(_ policy: CircuitBreakerPolicy) {
        self.policy = policy
        count = RollingCount(length: policy.window)
    }

    /// What the last call has made of it: an open circuit stays open until a call comes.
    var settledState: CircuitState {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// An open circuit whose time is over is half open, also before the first call comes.
    func state(at now: Duration) -> CircuitState {
        switch phase {
        case .closed: .closed
        case .open: remaining(at: now) > .zero ? .open : .halfOpen
        case .halfOpen: .halfOpen
        }
    }

    /// How long all calls are still held back.
    func remaining(at now: Duration) -> Duration {
        guard case .open(let since) = phase else { return .zero }
        return max(.zero, policy.openFor - (now - since))
    }

    /// Whether a call would be let through.
    func admits(at now: Duration) -> Bool {
        switch phase {
        case .closed: true
        case .open: remaining(at: now) == .zero
        case .halfOpen(let out, let passed): out + passed < probes
        }
    }

    /// Lets a call through; `nil` when it is held back.
    mutating func admit(at now: Duration) -> Admission? {
        guard admits(at: now) else { return nil }
        if case .open = phase {
            enter(.halfOpen(out: 0, passed: 0))
            halfOpenSince = now
        }
        if case .halfOpen(let out, let passed) = phase { phase = .halfOpen(out: out + 1, passed: passed) }
        return Admission(turn: turn)
    }

    /// A call that was let through has ended.
    mutating func ended(_ admission: Admission, _ verdict: Verdict, at now: Duration) {
        guard admission.turn == turn else { return }
        switch (phase, verdict) {
        case (.open, _), (.closed, .nothing): break
        case (.closed, _):
            count.add(isMarked: verdict == .failed, at: now)
            if verdict == .failed, isTooMuch(at: now) { enter(.open(since: now)) }
        case (.halfOpen, .failed): enter(.open(since: now))
        case (.halfOpen(let out, let passed), .nothing): phase = .halfOpen(out: out - 1, passed: passed)
        case (.halfOpen(let out, let passed), .worked):
            phase = .halfOpen(out: out - 1, passed: passed + 1)
            guard passed + 1 >= probes else { return }
            count = RollingCount(length: policy.window)
            enter(.closed)
        }
    }

    /// Whether there is nothing to remember of it: no call of late, or none that asked for it long after it could have been.
    func isIdle(at now: Duration) -> Bool {
        switch phase {
        case .closed: count.totals(at: now).all == 0
        case .open(let since): now - since >= policy.openFor + policy.window
        // Its probe was cancelled, or was not enough.
        case .halfOpen(let out, _): out == 0 && now - halfOpenSince >= policy.openFor + policy.window
        }
    }

    private var probes: Int { max(policy.probes, 1) }

    private func isTooMuch(at now: Duration) -> Bool {
        let totals = count.totals(at: now)
        return totals.marked >= max(policy.failures, 1) && Double(totals.marked) >= policy.share * Double(totals.all)
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        turn += 1
    }
}

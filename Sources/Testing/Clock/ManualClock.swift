// SPDX-License-Identifier: MIT

import TargetKit

/// A clock that stands still until the test moves it.
///
/// A test waits with ``waitForSleepers(_:)`` until the code under test sleeps, and then advances. Each task that is due
/// is resumed in the order of its deadline, those with one deadline in the order in which they fell asleep; they all
/// read the time that the clock was moved to. To see every step of a loop that sleeps again, use
/// ``advanceToNextDeadline()``.
public final class ManualClock: Clock, Sendable {
    /// A point in time, counted from the moment at which the clock was made.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was made.
        public var offset: Duration

        /// The instant that lies so far after the start.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The instant that lies so much later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The time from this instant to the other one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether the first instant is the earlier one.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }

        /// The time since the start, for messages.
        public var description: String { "start + \(offset)" }
    }

    private struct State: Sendable {
        var now = Instant()
        var sleepers = Waiters<Instant>()
        var watchers = Waiters<Int>()
    }

    private let state = Locked(State())

    /// A clock whose time is zero.
    public init() {}

    /// The time that the test has set.
    public var now: Instant { state.withLock { $0.now } }

    /// The smallest step: none, every duration counts.
    public var minimumResolution: Duration { .zero }

    /// How many tasks sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// How long each sleeping task has still to sleep, the shortest first.
    public var remainingSleeps: [Duration] {
        state.withLock { state in
            state.sleepers.conditions.map { state.now.duration(to: $0) }.sorted()
        }
    }

    /// Moves the time forward and resumes every task that is due.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            Self.move(&state, to: state.now.advanced(by: duration))
        }
        for continuation in due { continuation.resume() }
    }

    /// Moves the time to the earliest deadline and resumes the tasks that wait for it. Does nothing when nobody sleeps.
    ///
    /// - Returns: how far the time was moved.
    @discardableResult
    public func advanceToNextDeadline() -> Duration {
        let (due, step) = state.withLock { state -> ([Waiters<Instant>.Continuation], Duration) in
            guard let deadline = state.sleepers.conditions.min() else { return ([], .zero) }
            let step = state.now.duration(to: deadline)
            return (Self.move(&state, to: deadline), step)
        }
        for continuation in due { continuation.resume() }
        return step
    }

    private static func move(_ state: inout State, to instant: Instant) -> [Waiters<Instant>.Continuation] {
        state.now = max(state.now, instant)
        let now = state.now
        return state.sleepers.takeAll(orderedBy: <) { $0 <= now }
    }
}

extension ManualClock {
    /// Suspends until the test has moved the time to the deadline; the tolerance is of no account.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before, at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let id = state.withLock { $0.sleepers.announce() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                fallAsleep(id, until: deadline, continuation)
            }
        } onCancel: {
            state.withLock { $0.sleepers.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    private func fallAsleep(_ id: Int, until deadline: Instant, _ continuation: Waiters<Instant>.Continuation) {
        let (outcome, watchers) = state.withLock { state -> (Result<Void, any Error>?, [Waiters<Int>.Continuation]) in
            if deadline <= state.now {
                state.sleepers.withdraw(id)
                return (.success(()), [])
            }
            guard state.sleepers.park(id, until: deadline, continuation) else {
                return (.failure(CancellationError()), [])
            }
            let count = state.sleepers.count
            return (nil, state.watchers.takeAll(orderedBy: <) { $0 <= count })
        }
        if let outcome { continuation.resume(with: outcome) }
        for watcher in watchers { watcher.resume() }
    }

    /// Returns when at least that many tasks sleep on this clock. Returns early when the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async {
        guard let id = state.withLock({ $0.sleepers.count >= count ? nil : $0.watchers.announce() }) else { return }
        try? await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                watch(id, count, continuation)
            }
        } onCancel: {
            state.withLock { $0.watchers.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    private func watch(_ id: Int, _ count: Int, _ continuation: Waiters<Int>.Continuation) {
        let isSettled = state.withLock { state -> Bool in
            if state.sleepers.count >= count {
                state.watchers.withdraw(id)
                return true
            }
            return !state.watchers.park(id, until: count, continuation)
        }
        if isSettled { continuation.resume() }
    }
}

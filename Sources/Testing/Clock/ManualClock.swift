// SPDX-License-Identifier: MIT
import TargetKit

/// A clock that a test advances, so that timeouts, delays and retries take no real time.
///
/// A test waits until the code under test sleeps, then advances the time:
///
/// ```swift
/// import TargetKit
/// import TargetKitTesting
/// import Testing
///
/// @Test("A search fails after 10 seconds without a response")
/// func timeout() async throws {
///     let clock = ManualClock()
///     let provider = Provider<Catalog>(
///         stubClosure: { _ in .delayed(.seconds(60)) },
///         options: .setting(\.timeout, .wholeCall(.seconds(10))),
///         clock: clock
///     )
///     let call = Task { try await provider.request(.search("tea")) }
///     try await clock.waitForSleepers(2)      // the delay of the stub, and the timeout
///     clock.advance(by: .seconds(10))
///     await #expect(throws: TargetKitError.self) { try await call.value }
/// }
/// ```
///
/// Sleeping tasks are resumed in the order of their deadlines, and for equal deadlines in the order in which they
/// started to sleep. After ``advance(by:)``, ``now`` is the new time for all of them. To see each step of a loop that
/// sleeps again, use ``advanceToNextDeadline()``; to skip all sleeps, ``runUntilIdle(limit:)``.
///
/// The clock tracks the calls of providers that use it, and which of them sleep.
public final class ManualClock: Clock, CallCountingClock, Sendable {
    /// A time of the clock.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's start.
        public var offset: Duration

        /// Creates a time.
        ///
        /// - Parameter offset: The time since the clock's start; default: zero.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the time after a duration, at most `Duration.seconds(.max)` after the clock's start.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: Self.limited(Self.limited(offset) + Self.limited(duration)))
        }

        /// Returns the duration from this time to another.
        public func duration(to other: Instant) -> Duration { Self.limited(other.offset) - Self.limited(offset) }

        /// The duration, limited so that the sum of two durations doesn't overflow.
        private static func limited(_ duration: Duration) -> Duration {
            max(.seconds(-Int64.max), min(duration, .seconds(Int64.max)))
        }

        /// Whether the first time is earlier.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }

        /// The time since the clock's start, as text.
        public var description: String { "start + \(offset)" }
    }

    typealias Continuation = CheckedContinuation<Void, any Error>

    /// A task that sleeps.
    struct Sleep: Sendable {
        let deadline: Instant
        /// The calls for which the task works, followed by the timer if it only limits the time of a call.
        let owner: [RequestContext.ID]
    }

    struct State: Sendable {
        var now = Instant()
        var sleepers = Waiters<Sleep, Void>()
        var watchers = Waiters<Watch, Void>()
        var startedSleepCount = 0
        /// The calls of providers with this clock.
        var calls = CountedCalls()

        func isMet(_ watch: Watch) -> Bool {
            switch watch {
            case .sleeperCount(let count): sleepers.count >= count
            case .noCallAtWork: callsAtWork.isEmpty
            }
        }

        /// The tasks whose condition is met.
        mutating func takeWatchers() -> [Continuation] {
            guard watchers.count > 0 else { return [] }
            let state = self
            return watchers.takeAll(orderedBy: { _, _ in false }, where: state.isMet)
        }
    }

    /// The condition for which a task waits.
    enum Watch: Sendable {
        /// At least this number of tasks sleep.
        case sleeperCount(Int)
        case noCallAtWork
    }

    let state = Locked(State())
    /// For how many milliseconds nothing happens until tasks without calls count as finished.
    let quietLimit: Int

    /// Creates a clock whose time is zero.
    public convenience init() {
        self.init(quietLimit: 20)
    }

    /// Creates a clock for tests on a busy machine, which waits longer for tasks that don't sleep.
    package init(quietLimit: Int) {
        self.quietLimit = quietLimit
    }

    /// The current time of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero, because every duration counts.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that sleep on this clock.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The remaining sleep times of all tasks, in ascending order.
    public var remainingSleeps: [Duration] {
        state.withLock { state in
            state.sleepers.conditions.map { state.now.duration(to: $0.deadline) }.sorted()
        }
    }

    /// Moves the time forward, and resumes the tasks whose deadlines are reached. A negative duration has no effect.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            Self.move(&state, to: state.now.advanced(by: duration))
        }
        for continuation in due { continuation.resume() }
    }

    /// Moves the time to the earliest deadline, and resumes the tasks that wait for it. Has no effect if no task
    /// sleeps.
    ///
    /// - Returns: The duration by which the time was moved.
    @discardableResult
    public func advanceToNextDeadline() -> Duration {
        advanceAndCount()?.duration ?? .zero
    }

    /// Moves the time to the earliest deadline, and returns the result.
    ///
    /// - Parameter isCareful: Whether the time stays as it is, and the result is `nil`, while a call is at work.
    func advanceAndCount(whileCallsRest isCareful: Bool = false) -> Step? {
        let (due, step) = state.withLock { state -> ([Continuation], Step?) in
            if isCareful, !state.callsAtWork.isEmpty { return ([], nil) }
            var step = Step(startedSleeps: state.startedSleepCount, endedCalls: state.calls.endedCount)
            guard let deadline = state.sleepers.conditions.map(\.deadline).min() else { return ([], step) }
            let due = state.sleepers.conditions.filter { $0.deadline <= deadline }
            step.resumed = due.count
            step.unowned = due.filter(\.owner.isEmpty).count
            // Measured here, because a resumed task may also move the time.
            let start = state.now
            let continuations = Self.move(&state, to: deadline)
            step.duration = start.duration(to: state.now)
            return (continuations, step)
        }
        for continuation in due { continuation.resume() }
        return step
    }

    /// The result of moving the time to the earliest deadline.
    struct Step {
        /// The number of sleeps that had started before.
        let startedSleeps: Int
        /// The number of calls that had ended before.
        let endedCalls: Int
        /// The number of resumed tasks.
        var resumed = 0
        /// The number of resumed tasks that belong to no call of a provider with this clock.
        var unowned = 0
        /// The duration by which the time was moved.
        var duration = Duration.zero
    }

    private static func move(_ state: inout State, to instant: Instant) -> [Continuation] {
        state.now = max(state.now, instant)
        let now = state.now
        for sleep in state.sleepers.conditions where sleep.deadline <= now { state.calls.resume(sleep.owner) }
        return state.sleepers.takeAll {
            $0.deadline < $1.deadline
        } where: {
            $0.deadline <= now
        }
    }
}

extension ManualClock {
    /// Suspends the task until the time is moved to the deadline. The tolerance is ignored.
    ///
    /// - Throws: `CancellationError`, immediately when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let id = state.withLock { $0.sleepers.announce() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                suspend(id, until: deadline, continuation)
            }
        } onCancel: {
            state.withLock { $0.sleepers.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    private func suspend(_ id: Int, until deadline: Instant, _ continuation: Continuation) {
        let sleep = Sleep(deadline: deadline, owner: RequestContext.callsOfTask)
        let (outcome, watchers) = state.withLock { state -> (Result<Void, any Error>?, [Continuation]) in
            state.startedSleepCount += 1
            state.calls.sleep(sleep.owner)
            if deadline <= state.now {
                state.calls.resume(sleep.owner)
                state.sleepers.withdraw(id)
                return (.success(()), [])
            }
            guard state.sleepers.park(id, until: sleep, continuation) else {
                return (.failure(CancellationError()), [])
            }
            return (nil, state.takeWatchers())
        }
        if let outcome { continuation.resume(with: outcome) }
        for watcher in watchers { watcher.resume() }
    }

    /// Waits until at least a number of tasks sleep on this clock.
    ///
    /// - Parameters:
    ///   - count: The number of tasks; default: 1.
    ///   - limit: The maximum wait in real time; default: 30 seconds.
    /// - Throws: An error that lists the sleeping tasks after the limit, or `CancellationError`.
    public func waitForSleepers(_ count: Int = 1, within limit: Duration = .seconds(30)) async throws {
        try Task.checkCancellation()
        guard sleeperCount < count else { return }
        let isReached = await Deadline.value(limit) { await self.wait(for: .sleeperCount(count)) } != nil
        try Task.checkCancellation()
        guard !isReached else { return }
        let remaining = remainingSleeps
        let expected = "\(Plural.of(count, noun: "task")) to sleep on the clock within \(limit)"
        let found = remaining.isEmpty ? "0" : "\(remaining.count), which sleep for \(Self.list(remaining))"
        let hint = "Tasks sleep on it only if the code under test uses this clock."
        throw ExpectationFailure("Expected \(expected), found \(found). \(hint)")
    }

    /// Waits until a condition is met. Returns early if the task is cancelled.
    func wait(for watch: Watch) async {
        let id = state.withLock { $0.watchers.announce() }
        try? await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.isMet(watch) {
                        state.watchers.withdraw(id)
                        return true
                    }
                    return !state.watchers.park(id, until: watch, continuation)
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.cancel(id) }?.resume(throwing: CancellationError())
        }
    }
}

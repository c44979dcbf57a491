// SPDX-License-Identifier: MIT
import TargetKit

/// The calls of the providers that use a clock.
struct CountedCalls: Sendable {
    private struct Activity: Sendable {
        /// Whether it is a timer, which sleeps until a time limit of a call. It keeps the clock from moving before it
        /// sleeps, and when it has expired, until it has ended the call's activity, even its sleep.
        let isTimer: Bool
        /// Whether the call waits for something other than the clock.
        var isWaiting = false
        /// The number of waits that ended, because a hook that has ended or continued no longer waits.
        var endedWaitCount = 0
        /// Whether the call has neither slept nor ended for a long time, for example because it waits for a server or a
        /// test.
        var isBlocked = false
    }

    private var activities: [RequestContext.ID: Activity] = [:]
    private(set) var endedCount = 0
    /// The number of calls that started or ended.
    private(set) var changeCount = 0

    /// Whether any call waits for something other than the clock.
    var hasWaiting: Bool { activities.values.contains { $0.isWaiting || $0.isBlocked } }

    mutating func begin(_ id: RequestContext.ID, isTimer: Bool) {
        activities[id] = Activity(isTimer: isTimer)
        if !isTimer { changeCount += 1 }
    }

    mutating func end(_ id: RequestContext.ID) {
        guard activities.removeValue(forKey: id)?.isTimer == false else { return }
        endedCount += 1
        changeCount += 1
    }

    mutating func setWaiting(_ isWaiting: Bool, call: RequestContext.ID) {
        activities[call]?.isWaiting = isWaiting
        if !isWaiting { activities[call]?.endedWaitCount += 1 }
    }

    /// The number of a hook that starts.
    func hook(of call: RequestContext.ID) -> Int { activities[call]?.endedWaitCount ?? 0 }

    mutating func suspendHook(_ hook: Int, of call: RequestContext.ID) {
        if activities[call]?.endedWaitCount == hook { setWaiting(true, call: call) }
    }

    private func isTimer(_ owner: [RequestContext.ID]) -> Bool {
        owner.last.flatMap { activities[$0]?.isTimer } == true
    }

    /// What sleeps with a task: its calls, or only its timer.
    private func sleepers(_ owner: [RequestContext.ID]) -> ArraySlice<RequestContext.ID> {
        isTimer(owner) ? owner.suffix(1) : owner[...]
    }

    /// Notes that a task of these calls sleeps.
    mutating func sleep(_ owner: [RequestContext.ID]) {
        for id in sleepers(owner) { activities[id]?.isBlocked = false }
    }

    /// Notes that a task of these calls no longer sleeps, because its deadline was reached. A timer ends the call's
    /// wait.
    mutating func resume(_ owner: [RequestContext.ID]) {
        guard isTimer(owner) else { return }
        for id in owner.suffix(2) { activities[id]?.isBlocked = false }
    }

    /// Marks active calls as blocked.
    mutating func block(_ calls: Set<RequestContext.ID>) {
        for call in calls { activities[call]?.isBlocked = true }
    }

    /// The calls that neither sleep nor wait. If only timers sleep, waiting calls don't wait for this clock.
    func atWork(apartFrom sleeps: [ManualClock.Sleep]) -> Set<RequestContext.ID> {
        let asleep = Set(sleeps.flatMap { sleepers($0.owner) })
        let onlyTimersSleep = sleeps.allSatisfy { isTimer($0.owner) }
        let calls = activities.filter { call, activity in
            if activity.isBlocked { return false }
            return activity.isWaiting ? onlyTimersSleep : !asleep.contains(call)
        }
        return Set(calls.keys)
    }
}

extension ManualClock.State {
    /// The active calls.
    var callsAtWork: Set<RequestContext.ID> { calls.atWork(apartFrom: sleepers.conditions) }
}

extension ManualClock {
    /// Counts a call, or a timer of a call.
    package func begin(_ id: RequestContext.ID, isTimer: Bool) {
        state.withLock { $0.calls.begin(id, isTimer: isTimer) }
    }

    /// Notes whether a call waits for something other than this clock.
    package func setWaiting(_ isWaiting: Bool, call: RequestContext.ID) {
        change { $0.setWaiting(isWaiting, call: call) }
    }

    /// Starts a hook, in which the call then waits unless it ended before.
    package func startHook<Hook>(of call: RequestContext.ID, _ start: () -> Hook) -> Hook {
        let number = state.withLock { $0.calls.hook(of: call) }
        defer { change { $0.suspendHook(number, of: call) } }
        return start()
    }

    /// Stops counting a call or a timer.
    package func end(_ id: RequestContext.ID) {
        change { $0.end(id) }
    }

    private func change(_ change: (inout CountedCalls) -> Void) {
        let watchers = state.withLock { state in
            change(&state.calls)
            return state.takeWatchers()
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Waits until no call is active. A call that neither sleeps nor ends for 10 seconds in real time counts as blocked
    /// until it sleeps again.
    func waitForCalls() async throws {
        try Task.checkCancellation()
        guard !state.withLock(\.callsAtWork.isEmpty) else { return }
        let isSettled = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.wait(for: .noCallAtWork)
                return true
            }
            group.addTask {
                // Many short sleeps, because these also take longer on a busy machine.
                for _ in 0..<1_000 where !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() == true
        }
        try Task.checkCancellation()
        guard !isSettled else { return }
        state.withLock { state in
            let calls = state.callsAtWork
            state.calls.block(calls)
        }
    }
}

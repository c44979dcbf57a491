// SPDX-License-Identifier: MIT
import TargetKit

/// The calls of the providers that use a clock.
struct CountedCalls: Sendable {
    private struct Activity: Sendable {
        /// Whether the call waits for something other than the clock.
        var isWaiting = false
        /// The number of waits that ended, because a hook that has ended or continued no longer waits.
        var endedWaitCount = 0
        /// The timers of its timeouts that don't sleep yet, or that have expired, which ends the call's activity, even
        /// its sleep.
        var timersAtWork: Set<Int> = []
        /// Whether the call has neither slept nor ended for a long time, for example because it waits for a server or a
        /// test.
        var isBlocked = false
    }

    private var timerCount = 0
    private var activities: [RequestContext.ID: Activity] = [:]
    private(set) var endedCount = 0
    /// The number of calls that started or ended.
    private(set) var changeCount = 0

    /// Whether any call waits for something other than the clock.
    var hasWaiting: Bool { activities.values.contains { $0.isWaiting || $0.isBlocked } }

    mutating func begin(_ call: RequestContext.ID) {
        activities[call] = Activity()
        changeCount += 1
    }

    mutating func end(_ call: RequestContext.ID) {
        guard activities.removeValue(forKey: call) != nil else { return }
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

    mutating func beginTimer(of call: RequestContext.ID) -> Int {
        timerCount += 1
        activities[call]?.timersAtWork.insert(timerCount)
        return timerCount
    }

    mutating func endTimer(_ timer: Int, of call: RequestContext.ID) {
        activities[call]?.timersAtWork.remove(timer)
    }

    /// Notes that a task of these calls sleeps.
    mutating func sleep(_ owner: CallsOfTask) {
        if let timer = owner.timer {
            if let call = owner.calls.last { endTimer(timer, of: call) }
        } else {
            for call in owner.calls { activities[call]?.isBlocked = false }
        }
    }

    /// Notes that a task of these calls no longer sleeps, because its deadline was reached.
    mutating func resume(_ owner: CallsOfTask) {
        guard let timer = owner.timer, let call = owner.calls.last else { return }
        activities[call]?.timersAtWork.insert(timer)
        activities[call]?.isBlocked = false
    }

    /// Marks active calls as blocked.
    mutating func block(_ calls: Set<RequestContext.ID>) {
        for call in calls { activities[call]?.isBlocked = true }
    }

    /// The calls that neither sleep nor wait. If only timers sleep, waiting calls don't wait for this clock.
    func atWork(apartFrom sleeps: [ManualClock.Sleep]) -> Set<RequestContext.ID> {
        let sleeps = sleeps.filter { $0.owner.timer == nil }
        let asleep = Set(sleeps.flatMap(\.owner.calls))
        let calls = activities.filter { call, activity in
            if activity.isBlocked { return false }
            if !activity.timersAtWork.isEmpty { return true }
            return activity.isWaiting ? sleeps.isEmpty : !asleep.contains(call)
        }
        return Set(calls.keys)
    }
}

extension ManualClock.State {
    /// The active calls.
    var callsAtWork: Set<RequestContext.ID> { calls.atWork(apartFrom: sleepers.conditions) }
}

extension ManualClock {
    /// Counts a call.
    package func begin(_ call: RequestContext.ID) {
        state.withLock { $0.calls.begin(call) }
    }

    /// Notes whether a call waits for something other than this clock.
    package func setWaiting(_ isWaiting: Bool, call: RequestContext.ID) {
        change { $0.setWaiting(isWaiting, call: call) }
    }

    /// Returns a number for a hook that starts.
    package func beginHook(of call: RequestContext.ID) -> Int {
        state.withLock { $0.calls.hook(of: call) }
    }

    /// Notes that a call waits in a hook.
    package func suspendHook(_ hook: Int, of call: RequestContext.ID) {
        change { $0.suspendHook(hook, of: call) }
    }

    /// Counts a timer of a call as active.
    package func beginTimer(of call: RequestContext.ID) -> Int {
        state.withLock { $0.calls.beginTimer(of: call) }
    }

    /// Stops counting a timer.
    package func endTimer(_ timer: Int, of call: RequestContext.ID) {
        change { $0.endTimer(timer, of: call) }
    }

    /// Stops counting a call.
    package func end(_ call: RequestContext.ID) {
        change { $0.end(call) }
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

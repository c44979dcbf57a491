// SPDX-License-Identifier: MIT

/// A test clock that counts its providers' calls to detect when none of them is working.
package protocol CallCountingClock: Clock where Duration == Swift.Duration {
    /// Counts a call.
    func begin(_ call: RequestContext.ID)

    /// Notes whether a call waits for something other than the clock, such as a plugin's hook.
    func setWaiting(_ isWaiting: Bool, call: RequestContext.ID)

    /// Notes that a plugin's hook begins.
    ///
    /// - Returns: A number for the hook.
    func beginHook(of call: RequestContext.ID) -> Int

    /// Notes that a hook suspended. The call counts as waiting, unless that was ended since the hook began.
    func suspendHook(_ hook: Int, of call: RequestContext.ID)

    /// Notes that a task will start and sleep until a time limit of a call. Until it sleeps, and from the limit until
    /// ``endTimer(_:of:)``, the call counts as working.
    ///
    /// - Returns: A number for the timer.
    func beginTimer(of call: RequestContext.ID) -> Int

    /// Notes that a timer is no longer needed, or that the work that it ended no longer sleeps.
    func endTimer(_ timer: Int, of call: RequestContext.ID)

    /// Stops counting a call.
    func end(_ call: RequestContext.ID)
}

/// The calls for which a task works, so that a ``CallCountingClock`` can track which of them sleeps.
package struct CallsOfTask: Sendable {
    /// The call, preceded by the calls whose plugins make it.
    package var calls: [RequestContext.ID] = []
    /// The number of the timer if the task only limits the time of the call.
    package var timer: Int?

    /// The calls of the current task; empty unless the provider's clock counts calls.
    @TaskLocal package static var current = CallsOfTask()
}

/// A task that only limits the time of a call. A ``CallCountingClock`` is informed before the task starts.
struct CallTimer: Sendable {
    private let call: RequestContext.ID
    private let clock: (any CallCountingClock)?
    private let number: Int?

    fileprivate init(of call: RequestContext.ID, on clock: (any CallCountingClock)?) {
        self.call = call
        self.clock = clock
        number = clock?.beginTimer(of: call)
    }

    /// Runs the work of the timer.
    func run<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        guard number != nil else { return try await work() }
        var owner = CallsOfTask.current
        if owner.calls.last != call { owner.calls.append(call) }
        owner.timer = number
        return try await CallsOfTask.$current.withValue(owner) { try await work() }
    }

    /// Ends the timer. Called after everything that it had to end was cancelled.
    func end() {
        if let number { clock?.endTimer(number, of: call) }
    }
}

extension Call {
    /// Announces a task that limits the time of the call.
    func timer() -> CallTimer { CallTimer(of: context.id, on: configuration.countingClock) }

    /// Starts a task of the call in which a ``CallCountingClock`` recognizes the call.
    func withTestClock<Value>(_ start: () -> Value) -> Value {
        guard configuration.countingClock != nil else { return start() }
        let calls = CallsOfTask(calls: CallsOfTask.current.calls + [context.id])
        return CallsOfTask.$current.withValue(calls, operation: start)
    }

    /// Runs work that waits for something other than a ``CallCountingClock``.
    func waiting<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        guard let clock = configuration.countingClock else { return try await work() }
        clock.setWaiting(true, call: context.id)
        defer { clock.setWaiting(false, call: context.id) }
        return try await work()
    }

    /// Runs a plugin's hook. It counts as active until it first suspends, if the system reports that, and then as
    /// waiting for something other than the clock.
    func trackedByTestClock<Value: Sendable>(
        hook: @escaping @Sendable () async -> Value,
        on clock: any CallCountingClock
    ) async -> Value {
        let call = context.id
        let number = clock.beginHook(of: call)
        let task = Task.startingNow {
            defer { clock.setWaiting(false, call: call) }
            return await hook()
        }
        clock.suspendHook(number, of: call)
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

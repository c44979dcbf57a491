// SPDX-License-Identifier: MIT

/// A test clock that counts its providers' calls to detect when none of them is working.
package protocol CallCountingClock: Clock where Duration == Swift.Duration {
    /// Counts a call, or a timer that will sleep until a time limit of a call. It counts as working while it doesn't
    /// sleep.
    func begin(_ id: RequestContext.ID, isTimer: Bool)

    /// Notes whether a call waits for something other than the clock, such as a plugin's hook.
    func setWaiting(_ isWaiting: Bool, call: RequestContext.ID)

    /// Starts the task of a plugin's hook, which runs until it suspends. From then on, the call counts as waiting, unless
    /// that was ended since the hook began.
    func startHook<Hook>(of call: RequestContext.ID, _ start: () -> Hook) -> Hook

    /// Stops counting a call or a timer.
    func end(_ id: RequestContext.ID)
}

/// The calls for which a task works, so that a ``CallCountingClock`` can track which of them sleeps.
package enum CallsOfTask {
    /// The call of the current task, preceded by the calls whose plugins make it, and followed by the timer if the task
    /// only limits the time of the call. Empty unless the provider's clock counts calls.
    @TaskLocal package static var current: [RequestContext.ID] = []
}

/// A task that only limits the time of a call. A ``CallCountingClock`` counts it before the task starts.
struct CallTimer: Sendable {
    private let id: RequestContext.ID?
    private let call: RequestContext.ID
    private let clock: (any CallCountingClock)?

    fileprivate init(of call: RequestContext.ID, on clock: (any CallCountingClock)?) {
        self.call = call
        self.clock = clock
        id = clock == nil ? nil : .next()
        if let id { clock?.begin(id, isTimer: true) }
    }

    /// Runs the work of the timer.
    func run<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        guard let id else { return try await work() }
        let calls = CallsOfTask.current.filter { $0 != call } + [call, id]
        return try await CallsOfTask.$current.withValue(calls) { try await work() }
    }

    /// Ends the timer. Called after everything that it had to end was cancelled.
    func end() {
        if let id { clock?.end(id) }
    }
}

extension Call {
    /// Announces a task that limits the time of the call.
    func timer() -> CallTimer { CallTimer(of: context.id, on: configuration.countingClock) }

    /// Starts a task of the call in which a ``CallCountingClock`` recognizes the call.
    func withTestClock<Value>(_ start: () -> Value) -> Value {
        guard configuration.countingClock != nil else { return start() }
        let calls = CallsOfTask.current + [context.id]
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
        let task = clock.startHook(of: call) {
            Task.startingNow {
                defer { clock.setWaiting(false, call: call) }
                return await hook()
            }
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

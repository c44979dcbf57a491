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

extension RequestContext {
    /// The calls for which the current task works, so that a ``CallCountingClock`` can track which of them sleeps: its
    /// call, preceded by the calls whose plugins make it, and followed by the timer if the task only limits the time of
    /// the call. Empty unless the provider's clock counts calls.
    @TaskLocal package static var callsOfTask: [ID] = []
}

/// A task that only limits the time of a call. A ``CallCountingClock`` counts it before the task starts.
struct CallTimer: Sendable {
    private let id: RequestContext.ID?
    private let call: RequestContext.ID
    private let clock: (any CallCountingClock)?

    init(of call: RequestContext.ID, on clock: (any CallCountingClock)?) {
        self.call = call
        self.clock = clock
        id = clock == nil ? nil : .next()
        if let id { clock?.begin(id, isTimer: true) }
    }

    /// Runs the work of the timer.
    func run(_ work: () async throws -> Void) async rethrows {
        guard let id else { return try await work() }
        let calls = RequestContext.callsOfTask.filter { $0 != call } + [call, id]
        try await RequestContext.$callsOfTask.withValue(calls) { try await work() }
    }

    /// Ends the timer. Called after everything that it had to end was cancelled.
    func end() {
        if let id { clock?.end(id) }
    }
}

// SPDX-License-Identifier: MIT

/// The time for which a reader occupies its actor. A reader that always finds something to read never suspends, and a
/// view could not respond meanwhile.
struct ActorTurn: Sendable {
    /// Half of the time between two frames at 60 Hz.
    private static let limit = Duration.milliseconds(8)

    private var start: ContinuousClock.Instant?

    /// Suspends the task if its turn has been longer than the limit. Has no effect without an actor.
    mutating func end(isolation actor: isolated (any Actor)?) async {
        if actor == nil { return }
        let now = ContinuousClock.now
        guard let start, start.duration(to: now) >= Self.limit else {
            start = start ?? now
            return
        }
        await Task.yield()
        self.start = .now
    }
}

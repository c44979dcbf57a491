// SPDX-License-Identifier: MIT

/// The time for which a reader occupies its actor. A reader that always has data never suspends, so it could block a
/// view's actor.
package struct ActorTurn: Sendable {
    /// Half of the time between two frames at 60 Hz.
    private static let limit = Duration.milliseconds(8)

    private var start: ContinuousClock.Instant?

    package init() {}

    /// Whether the reader must suspend because its turn exceeds the limit. If so, the next turn begins. Always `false`
    /// without an actor.
    package mutating func isOver(on actor: (any Actor)?) -> Bool {
        if actor == nil { return false }
        let now = ContinuousClock.now
        let isOver = start.map { $0.duration(to: now) >= Self.limit } ?? false
        if isOver || start == nil { start = now }
        return isOver
    }
}

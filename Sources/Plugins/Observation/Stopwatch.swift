// SPDX-License-Identifier: MIT

/// The time since it was made, by any clock: an existential clock's instants cannot be stored, durations can.
struct Stopwatch: Sendable {
    private let read: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
    }

    /// The time since the stopwatch was made.
    var elapsed: Duration { read() }
}

// SPDX-License-Identifier: MIT

/// The upper limit of waits that a caller or a server requests.
@usableFromInline
package enum LongestWait {
    /// One year. Every clock can represent it.
    @usableFromInline package static let year = Duration.seconds(365 * 86_400)

    /// The duration, limited to a year, because clocks and the components of `Duration` trap on overflow.
    @inlinable
    package static func limited(_ time: Duration) -> Duration {
        max(.zero - year, min(time, year))
    }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for the duration, at most a year.
    @inlinable
    package func wait(for time: Duration) async throws {
        #if os(Linux)
        if self is ContinuousClock { return try await CancellableTimer(LongestWait.limited(time)).wait() }
        #endif
        try await sleep(for: LongestWait.limited(time))
    }
}

/// A stopwatch for any clock, started on creation. The instants of an existential clock can't be stored.
package struct ElapsedTime: Sendable {
    /// The time on the continuous clock since this was first read.
    package static let continuous = ElapsedTime(ContinuousClock())

    private let read: @Sendable () -> Duration

    package init(_ clock: some Clock<Duration>) {
        if clock is ContinuousClock {
            // A fast path without generic code, for the clock of almost every program.
            let start = ContinuousClock.now
            read = { start.duration(to: .now) }
        } else {
            let start = clock.now
            read = { start.duration(to: clock.now) }
        }
    }

    /// The time since the creation.
    package var current: Duration { read() }
}

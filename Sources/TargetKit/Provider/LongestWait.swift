// SPDX-License-Identifier: MIT

/// What waits end at that a caller or a server has asked for.
package enum LongestWait {
    /// A year, which every clock can count.
    package static let year = Duration.seconds(365 * 86_400)

    /// The time that is waited: a clock, and a duration's own components, trap at what they cannot count.
    package static func limited(_ time: Duration) -> Duration {
        max(.zero - year, min(time, year))
    }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps for that time, a year at most.
    func wait(for time: Duration) async throws {
        try await sleep(for: LongestWait.limited(time))
    }
}

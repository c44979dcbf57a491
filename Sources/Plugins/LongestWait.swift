// SPDX-License-Identifier: MIT

/// What waits end at that a caller or a server has asked for.
enum LongestWait {
    /// A year, which every clock can count.
    static let year = Duration.seconds(365 * 86_400)
}

// SPDX-License-Identifier: MIT

/// The time when a call times out, on the provider's clock.
final class Deadline: Sendable {
    private let end: Duration
    private let elapsedTime: ElapsedTime

    init(in limit: Duration, elapsedTime: ElapsedTime) {
        end = elapsedTime.current + LongestWait.limited(limit)
        self.elapsedTime = elapsedTime
    }

    /// The time until the deadline; zero after it.
    var remainingTime: Duration { max(.zero, end - elapsedTime.current) }

    /// A deadline by this clock, after a time from now.
    func restarted(in limit: Duration) -> Deadline { Deadline(in: limit, elapsedTime: elapsedTime) }

    /// The later of two deadlines by one clock; `nil`, without a deadline, is later than any.
    static func later(_ left: Deadline?, _ right: Deadline?) -> Deadline? {
        guard let left, let right else { return nil }
        return left.end < right.end ? right : left
    }
}

extension CallTimeout {
    /// The deadline of a call that starts now; `nil` without a limit for the whole call.
    func deadline(by elapsedTime: @autoclosure () -> ElapsedTime) -> Deadline? {
        guard let wholeCall, wholeCall > .zero else { return nil }
        return Deadline(in: wholeCall, elapsedTime: elapsedTime())
    }
}

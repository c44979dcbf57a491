// SPDX-License-Identifier: MIT

/// The timeout of an exchange by a clock that transports don't support.
///
/// The time starts when the first request reaches the transport, so earlier waits by plugins aren't counted.
final class ExchangeLimit: Sendable {
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let elapsedTime: ElapsedTime
    private let deadline = Locked<Deadline?>(nil)

    init(_ limit: Duration, by clock: any Clock<Duration>, _ elapsedTime: ElapsedTime) {
        self.limit = limit
        self.clock = clock
        self.elapsedTime = elapsedTime
    }

    /// Waits until the timeout.
    func wait() async throws {
        let deadline = deadline.withLock { deadline in
            let begun = deadline ?? Deadline(in: limit, elapsedTime: elapsedTime)
            deadline = begun
            return begun
        }
        try await clock.wait(for: deadline.remainingTime)
    }
}

// SPDX-License-Identifier: MIT

/// The timeout of an exchange by a clock other than the continuous one, which transports do not support.
///
/// The time begins when the first request reaches the transport: what plugins wait for before does not count.
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

    /// Waits until the time is over.
    func wait() async throws {
        let deadline = deadline.withLock { deadline in
            let begun = deadline ?? Deadline(in: limit, elapsedTime: elapsedTime)
            deadline = begun
            return begun
        }
        try await clock.wait(for: deadline.remainingTime)
    }
}

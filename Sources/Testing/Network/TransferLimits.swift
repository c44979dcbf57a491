// SPDX-License-Identifier: MIT
import TargetKit

/// The number of bytes that all calls of a transport can still transfer.
struct ByteBudget: Sendable {
    /// The remaining bytes; `nil` if they are unlimited.
    private let left: Locked<Int>?

    init(_ byteCount: Int?) {
        left = byteCount.map { Locked(max(0, $0)) }
    }

    var isLimited: Bool { left != nil }
    var isSpent: Bool { left?.withLock { $0 == 0 } ?? false }

    /// Takes a number of bytes, or as many as are left.
    func take(_ count: Int) -> Int {
        left?.withLock { left in
            let taken = min(left, count)
            left -= taken
            return taken
        } ?? count
    }
}

/// Waits within the timeout of one exchange.
struct TransferTimer: Sendable {
    private let clock: any Clock<Duration>
    private let timeout: Duration?
    private let elapsed: ElapsedTime

    init(_ clock: any Clock<Duration>, timeout: Duration?) {
        self.clock = clock
        self.timeout = timeout
        elapsed = ElapsedTime(clock)
    }

    /// The remaining time of the timeout; `nil` without a timeout.
    ///
    /// - Throws: `URLError(.timedOut)`.
    func remainingTime() throws -> Duration? {
        guard let timeout else { return nil }
        let left = timeout - elapsed.current
        guard left > .zero else { throw URLError(.timedOut) }
        return left
    }

    /// Waits, but at most until the timeout.
    ///
    /// - Throws: `URLError(.timedOut)` or `CancellationError`.
    func wait(_ duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        if let left = try remainingTime(), left <= duration {
            try await clock.wait(for: left)
            throw URLError(.timedOut)
        }
        try await clock.wait(for: duration)
    }
}

extension Int? {
    /// The number of bytes that are transferred at once, which is a tenth of a second's.
    var pieceSize: Int { map { max(1, $0 / 10) } ?? .max }

    /// The time that bytes take at this rate in bytes per second.
    func time(for count: Int) -> Duration {
        map { .seconds(Double(count) / Double(max(1, $0))) } ?? .zero
    }
}

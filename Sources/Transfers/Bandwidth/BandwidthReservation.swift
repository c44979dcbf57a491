// SPDX-License-Identifier: MIT
import TargetKit

/// The part of a ``BandwidthLimit`` that one body has reserved.
///
/// Each body reserves the same number of bytes at a time, so that concurrent bodies take turns, regardless of the size
/// of their chunks and the order of their timers.
final class BandwidthReservation: Sendable {
    private let limit: BandwidthLimit
    /// The reserved bytes that haven't been used.
    private let unused = Locked(BandwidthLimit.Reservation())

    init(_ limit: BandwidthLimit) {
        self.limit = limit
    }

    deinit {
        release()
    }

    var pieceSize: Int { limit.pieceSize }

    /// Waits until the next bytes of the body may be transferred.
    ///
    /// - Parameter check: Called periodically. An error that it throws ends the wait.
    func wait(for count: Int, check: () throws -> Void) async throws {
        var end = take(count)
        do {
            while let time = remainingTime(for: count, until: &end) {
                try check()
                try await limit.wait(for: time)
            }
            try Task.checkCancellation()
        } catch {
            giveBack(count)
            throw error
        }
    }

    /// Blocks the thread until the next bytes of the body may be transferred.
    ///
    /// - Parameter check: Called periodically. An error that it throws ends the wait.
    func blockThread(for count: Int, check: () throws -> Void) throws {
        var end = take(count)
        do {
            while let time = remainingTime(for: count, until: &end) {
                try check()
                limit.blockThread(for: time)
            }
        } catch {
            giveBack(count)
            throw error
        }
    }

    /// Returns the unused part of the reservation to the limit at the end of the body.
    func release() {
        let rest = unused.withLock { unused in
            defer { unused = BandwidthLimit.Reservation() }
            return unused
        }
        if rest.end > rest.start { limit.release(rest) }
    }

    /// Uses bytes of the reservation, extending it if necessary, and returns the position of the last byte.
    private func take(_ count: Int) -> Double {
        unused.withLock { unused in
            let rest = limit.keeps(unused) ? unused.end - unused.start : 0
            var used = Double(count)
            if used > rest {
                used -= rest
                unused = limit.reserve(atLeast: used)
            }
            unused.start += used
            return unused.start
        }
    }

    /// The next part of the wait for bytes that were taken; `nil` when it is over. If the limit has discarded the
    /// reservation, the bytes are taken again.
    private func remainingTime(for count: Int, until end: inout Double) -> Duration? {
        if !unused.withLock({ limit.keeps($0) }) { end = take(count) }
        return limit.remainingTime(until: end)
    }

    /// Releases the reservation together with its last bytes.
    private func giveBack(_ count: Int) {
        unused.withLock { $0.start -= Double(count) }
        release()
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A limit on the rate at which calls send and receive bytes.
///
/// ```swift
/// let limit = BandwidthLimit(bytesPerSecond: 500_000)
/// let provider = Provider<Backups>(plugins: [BandwidthLimitPlugin()])
/// try await provider.request(.backup, options: .setting(\.bandwidthLimit, limit))
/// limit.bytesPerSecond = nil      // as fast as possible from now on
/// ```
///
/// All calls with the same limit share it. Set it on a provider, a transfer queue, or a single call. Concurrent calls
/// get equal shares. The limit counts the bytes of request and response bodies, after decoding of the content coding.
/// When the limit is reached, reading pauses, and TCP's flow control slows down the server. After all calls have
/// paused, up to a tenth of a second's bytes are transferred at once.
public final class BandwidthLimit: Sendable {
    /// Bytes are transferred in the order of their reservation, at the current rate.
    private struct State: Sendable {
        /// The longest unused time, in seconds, that the limit credits to later bytes, because timers are late and
        /// bodies take time to arrive.
        private static let credit = 0.1

        var bytesPerSecond: Int?
        /// The number of bytes reserved since the limit was created.
        var reserved = 0.0
        /// The number of bytes that could have been transferred by ``time``. It exceeds ``reserved`` by at most the
        /// credit.
        var transferred = 0.0
        var time = Duration.zero
        /// The number of times that reservations were discarded.
        var epoch = 0

        mutating func advance(to now: Duration) {
            if let bytesPerSecond {
                let rate = Double(bytesPerSecond)
                transferred = min(reserved + rate * Self.credit, transferred + rate * ((now - time) / .seconds(1)))
            } else {
                transferred = reserved
            }
            time = now
        }

        /// The time until a reservation may be transferred, at the current rate.
        func remainingTime(until end: Double) -> Duration {
            guard let bytesPerSecond, end > transferred else { return .zero }
            return .seconds(min((end - transferred) / Double(bytesPerSecond), 3_600))
        }
    }

    /// The positions of reserved bytes.
    struct Reservation: Sendable {
        var start = 0.0
        var end = 0.0
        var epoch = 0
    }

    /// Shorter waits are added to the next wait, because timers aren't that precise.
    private static let shortestWait = Duration.milliseconds(5)
    /// The interval at which a wait checks the rate again.
    private static let longestWait = Duration.milliseconds(250)

    private let clock: any Clock<Duration>
    private let elapsed: ElapsedTime
    private let state: Locked<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The rate, at least 1; `nil` for no limit.
    ///   - clock: Measures the time; default: the continuous clock.
    public init(bytesPerSecond: Int?, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        elapsed = ElapsedTime(clock)
        state = Locked(State(bytesPerSecond: bytesPerSecond.map { max(1, $0) }))
    }

    /// The rate, at least 1; `nil` for no limit. A change takes effect immediately, including for waiting calls.
    public var bytesPerSecond: Int? {
        get { state.withLock(\.bytesPerSecond) }
        set {
            let now = elapsed.current
            state.withLock { state in
                state.advance(to: now)
                let rate = newValue.map { max(1, $0) }
                // Reservations made at a much higher rate would block other bodies for a long time.
                if let rate, state.bytesPerSecond.map({ rate < $0 / 2 }) ?? true {
                    state.reserved = state.transferred
                    state.epoch += 1
                }
                state.bytesPerSecond = rate
            }
        }
    }

    /// The maximum number of bytes that are transferred at once, which is a twentieth of a second's.
    var pieceSize: Int { bytesPerSecond.map { max(1, $0 / 20) } ?? .max }

    /// Waits for the next part of a wait.
    func wait(for time: Duration) async throws {
        try await clock.wait(for: time)
    }

    /// Blocks the thread for the next part of a wait.
    func blockThread(for time: Duration) {
        let isOver = DispatchSemaphore(value: 0)
        Task { [clock] in
            try? await clock.wait(for: time)
            isOver.signal()
        }
        isOver.wait()
    }

    /// Reserves bytes after all other reservations, at least ``pieceSize``, and returns their positions.
    func reserve(atLeast count: Double) -> Reservation {
        let now = elapsed.current
        return state.withLock { state in
            state.advance(to: now)
            let start = state.reserved
            state.reserved += max(count, state.bytesPerSecond.map { Double(max(1, $0 / 20)) } ?? count)
            return Reservation(start: start, end: state.reserved, epoch: state.epoch)
        }
    }

    /// Whether the reservation is still valid.
    func keeps(_ reservation: Reservation) -> Bool { state.withLock { $0.epoch == reservation.epoch } }

    /// Returns the reserved time of unused bytes to the limit.
    func release(_ unused: Reservation) {
        let now = elapsed.current
        state.withLock { state in
            guard state.epoch == unused.epoch else { return }
            state.advance(to: now)
            state.transferred += max(0, unused.end - max(unused.start, state.transferred))
        }
    }

    /// The next part of the wait for the bytes up to a position; `nil` when it is over.
    func remainingTime(until end: Double) -> Duration? {
        let now = elapsed.current
        let time = state.withLock { state in
            state.advance(to: now)
            return state.remainingTime(until: end)
        }
        return time < Self.shortestWait ? nil : min(time, Self.longestWait)
    }
}

extension CallOptions {
    /// The limit of the call's rate, which calls can share; default `nil`: the limit of the provider's
    /// `BandwidthLimitPlugin`. It has no effect without that plugin, or on stubs.
    public var bandwidthLimit: BandwidthLimit? {
        get { self[BandwidthLimitKey.self] }
        set { self[BandwidthLimitKey.self] = newValue }
    }
}

private enum BandwidthLimitKey: CallOptionKey { static let defaultValue: BandwidthLimit? = nil }

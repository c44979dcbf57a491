// SPDX-License-Identifier: MIT
import Foundation

/// A limit on the rate at which calls send and receive bytes.
///
/// ```swift
/// let limit = BandwidthLimit(bytesPerSecond: 500_000)
/// try await provider.request(.backup, options: .setting(\.bandwidthLimit, limit))
/// limit.bytesPerSecond = nil      // as fast as possible from now on
/// ```
///
/// All calls with the same limit share it: set it on a provider or on a queue of transfers, or make one for a call.
/// Bytes of request and response bodies count, those of a response after decoding. When the limit is reached, reading
/// pauses, and TCP's flow control slows the server down.
public final class BandwidthLimit: Sendable {
    /// Bytes are transferred in the order in which they were reserved, at the rate of each moment.
    private struct State: Sendable {
        var bytesPerSecond: Int?
        /// The number of bytes that were reserved since the limit was created.
        var reserved = 0.0
        /// How many of them could be transferred by ``time``.
        var transferred = 0.0
        var time = Duration.zero

        mutating func advance(to now: Duration) {
            if let bytesPerSecond {
                transferred = min(reserved, transferred + Double(bytesPerSecond) * ((now - time) / .seconds(1)))
            } else {
                transferred = reserved
            }
            time = now
        }

        /// The time until a reservation may be transferred, at the present rate.
        func remainingTime(until end: Double) -> Duration {
            guard let bytesPerSecond, end > transferred else { return .zero }
            return .seconds(min((end - transferred) / Double(bytesPerSecond), 3_600))
        }
    }

    /// Shorter waits are left out and added to the next one, because timers are not that exact.
    private static let shortestWait = Duration.milliseconds(5)
    /// After this time, a wait looks at the rate again.
    private static let longestWait = Duration.milliseconds(250)

    private let clock: any Clock<Duration>
    private let elapsed: ElapsedTime
    private let state: Locked<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The rate, at least 1; `nil`: no limit.
    ///   - clock: Measures the time; default: the continuous clock.
    public init(bytesPerSecond: Int?, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        elapsed = ElapsedTime(clock)
        state = Locked(State(bytesPerSecond: bytesPerSecond.map { max(1, $0) }))
    }

    /// The rate, at least 1; `nil`: no limit. A change applies at once, also to calls that wait.
    public var bytesPerSecond: Int? {
        get { state.withLock(\.bytesPerSecond) }
        set {
            let now = elapsed.current
            state.withLock { state in
                state.advance(to: now)
                state.bytesPerSecond = newValue.map { max(1, $0) }
            }
        }
    }

    /// The number of bytes that are transferred at once: those of a twentieth of a second.
    var pieceSize: Int { bytesPerSecond.map { max(1, $0 / 20) } ?? .max }

    /// Waits until bytes may be transferred.
    ///
    /// - Parameter check: Called now and then; an error that it throws ends the wait.
    func wait(for count: Int, check: () throws -> Void) async throws {
        let end = reserve(count)
        do {
            while let time = remainingTime(until: end) {
                try check()
                try await clock.wait(for: time)
            }
            try Task.checkCancellation()
        } catch {
            release(count, until: end)
            throw error
        }
    }

    /// Blocks the thread until bytes may be transferred.
    ///
    /// - Parameter check: Called now and then; an error that it throws ends the wait.
    func blockThread(for count: Int, check: () throws -> Void) throws {
        let end = reserve(count)
        do {
            while let time = remainingTime(until: end) {
                try check()
                let isOver = DispatchSemaphore(value: 0)
                Task { [clock] in
                    try? await clock.wait(for: time)
                    isOver.signal()
                }
                isOver.wait()
            }
        } catch {
            release(count, until: end)
            throw error
        }
    }

    /// Reserves the transfer of bytes after all others, and returns its position.
    private func reserve(_ count: Int) -> Double {
        let now = elapsed.current
        return state.withLock { state in
            state.advance(to: now)
            state.reserved += Double(count)
            return state.reserved
        }
    }

    /// Lets others have the time of a reservation that is not needed.
    private func release(_ count: Int, until end: Double) {
        let now = elapsed.current
        state.withLock { state in
            state.advance(to: now)
            state.transferred = min(
                state.reserved,
                state.transferred + min(Double(count), max(0, end - state.transferred))
            )
        }
    }

    /// The next part of a wait; `nil` when it is over.
    private func remainingTime(until end: Double) -> Duration? {
        let now = elapsed.current
        let time = state.withLock { state in
            state.advance(to: now)
            return state.remainingTime(until: end)
        }
        return time < Self.shortestWait ? nil : min(time, Self.longestWait)
    }
}

extension CallOptions {
    /// The limit of the call's rate, which calls can share; default `nil`: none.
    ///
    /// The metrics of such calls are `nil`. It has no effect on stubs, on transfers of `BackgroundTransport`, or on
    /// responses received by `URLSessionTransport` on Linux.
    public var bandwidthLimit: BandwidthLimit? {
        get { self[BandwidthLimitKey.self] }
        set { self[BandwidthLimitKey.self] = newValue }
    }
}

private enum BandwidthLimitKey: CallOptionKey { static let defaultValue: BandwidthLimit? = nil }

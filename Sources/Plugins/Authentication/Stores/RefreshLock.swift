// SPDX-License-Identifier: MIT
import Foundation

/// The wait of a process for the refresh of another one.
///
/// A refresh can take as long as its requests. The process that holds the lock regularly shows that it is running, so
/// that other processes wait for it, but not for a suspended process.
struct RefreshLock: Sendable {
    /// The time without a sign of life after which a process may be suspended, so that the refresh runs without the
    /// lock.
    private static let patience = Duration.seconds(10)
    /// The maximum wait, even if the other process is running.
    private static let limit = Duration.seconds(60)
    /// The time between two attempts to acquire the lock.
    private static let pause = Duration.milliseconds(20)
    /// The time between two signs of life.
    private static let interval = Duration.seconds(2)

    private let elapsedTime: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsedTime = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Waits until the lock is acquired, or the wait times out.
    ///
    /// - Parameters:
    ///   - take: Acquires the lock; returns `false` if another process holds it.
    ///   - sign: The latest sign of life of that process.
    /// - Returns: Whether the lock is acquired.
    func wait(_ take: () -> Bool, sign: () -> UInt64?) async throws -> Bool {
        let end = elapsedTime() + Self.limit
        var (last, patient) = (sign(), elapsedTime() + Self.patience)
        while elapsedTime() < min(end, patient) {
            if take() { return true }
            try await sleep(Self.pause)
            let latest = sign()
            if latest != last { (last, patient) = (latest, elapsedTime() + Self.patience) }
        }
        return false
    }

    /// Runs the refresh, and shows signs of life until it ends. The last one is shown before this method returns.
    ///
    /// - Parameter show: Stores a value that differs from all previous ones.
    func showingSigns<Value: Sendable>(
        _ show: @escaping @Sendable (UInt64) -> Void,
        while refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // It is cancelled and awaited when the refresh ends.
        async let _ = showSigns(show)
        return try await refresh()
    }

    private func showSigns(_ show: @Sendable (UInt64) -> Void) async {
        while !Task.isCancelled {
            show(.random(in: .min ... .max))
            try? await sleep(Self.interval)
        }
    }
}

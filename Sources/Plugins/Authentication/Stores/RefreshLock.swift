// SPDX-License-Identifier: MIT
import Foundation

/// How long a process waits for the refresh of another one.
///
/// A refresh can take as long as its requests may. The process that has the lock shows regularly that it runs, so that
/// another one waits for it, but not for a suspended one.
struct RefreshLock: Sendable {
    /// A process that has shown no sign of life for so long may be suspended: the refresh runs without the lock.
    private static let patience = Duration.seconds(10)
    /// The longest time, regardless of what the other process does.
    private static let limit = Duration.seconds(60)
    /// The time between two attempts to get the lock.
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

    /// Waits until the lock is taken, or the time is over.
    ///
    /// - Parameters:
    ///   - take: Takes the lock; `nil` if another process has it.
    ///   - sign: The latest sign of life of that process.
    func wait<Lock>(_ take: () -> Lock?, sign: () -> Data?) async throws -> Lock? {
        let end = elapsedTime() + Self.limit
        var (last, patient) = (sign(), elapsedTime() + Self.patience)
        while elapsedTime() < min(end, patient) {
            if let lock = take() { return lock }
            try await sleep(Self.pause)
            let latest = sign()
            if latest != last { (last, patient) = (latest, elapsedTime() + Self.patience) }
        }
        return nil
    }

    /// Runs the refresh, and shows signs of life until it ends. The last one is shown before this returns.
    ///
    /// - Parameter show: Stores a value that differs from those before.
    func showingSigns<Value: Sendable>(
        _ show: @escaping @Sendable (Data) -> Void,
        while refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // It is cancelled, and waited for, when the refresh ends.
        async let _ = showSigns(show)
        return try await refresh()
    }

    private func showSigns(_ show: @Sendable (Data) -> Void) async {
        while !Task.isCancelled {
            let value = UInt64.random(in: .min ... .max)
            show(withUnsafeBytes(of: value) { Data($0) })
            try? await sleep(Self.interval)
        }
    }
}

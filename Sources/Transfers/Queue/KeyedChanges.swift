// SPDX-License-Identifier: MIT
import TargetKit

/// The readers of changes to single objects. Each reader is notified only of changes to its object.
final class KeyedChanges<Key: Hashable & Sendable>: Sendable {
    private struct State: Sendable {
        var readers: [Key: [Int: AsyncStream<Void>.Continuation]] = [:]
        var lastReader = 0
    }

    private let state = Locked(State())

    /// A sequence with one element immediately, and one after each change. Changes between two reads are combined.
    func changes(of key: Key) -> AsyncStream<Void> {
        let (stream, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastReader += 1
            state.readers[key, default: [:]][state.lastReader] = reader
            return state.lastReader
        }
        reader.yield()
        reader.onTermination = { [weak self] _ in self?.remove(number, of: key) }
        return stream
    }

    /// Notifies the readers of objects.
    func announce(_ keys: some Sequence<Key>) {
        let readers = state.withLock { state in
            state.readers.isEmpty ? [] : keys.flatMap { Array((state.readers[$0] ?? [:]).values) }
        }
        for reader in readers { reader.yield() }
    }

    private func remove(_ number: Int, of key: Key) {
        // Released outside the lock, because its termination handler may run other code.
        _ = state.withLock { state -> AsyncStream<Void>.Continuation? in
            let reader = state.readers[key]?.removeValue(forKey: number)
            if state.readers[key]?.isEmpty == true { state.readers[key] = nil }
            return reader
        }
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A value behind a lock, and those who are told that it has changed.
package final class ObservedValue<Value: Sendable>: Sendable {
    private struct Content: Sendable {
        var value: Value
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastReader = 0
        var isFinished = false
    }

    private let content: Locked<Content>

    package init(_ value: Value) {
        content = Locked(Content(value: value))
    }

    /// The value now.
    package var value: Value { content.withLock { $0.value } }

    /// How many read the changes.
    package var readerCount: Int { content.withLock { $0.readers.count } }

    /// Changes the value, and then tells the readers to look at it.
    @discardableResult
    package func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, readers) = content.withLock { content in
            (change(&content.value), Array(content.readers.values))
        }
        for reader in readers { reader.yield() }
        return result
    }

    /// Ends the sequences of all readers, now and later.
    package func finish() {
        let readers = content.withLock { content in
            content.isFinished = true
            defer { content.readers.removeAll() }
            return Array(content.readers.values)
        }
        for reader in readers { reader.finish() }
    }

    /// One element at once, and one whenever the value has changed since the last was taken: what has become of it is read from
    /// the value itself, so that no reader sees changes out of order.
    package func changes() -> AsyncStream<Void> {
        let (stream, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = content.withLock { content -> Int? in
            guard !content.isFinished else { return nil }
            content.lastReader += 1
            content.readers[content.lastReader] = reader
            return content.lastReader
        }
        reader.yield()
        guard let id else {
            reader.finish()
            return stream
        }
        reader.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    private func remove(_ id: Int) {
        // Let go of outside the lock: what ends with the reader is not ours to know.
        _ = content.withLock { $0.readers.removeValue(forKey: id) }
    }
}

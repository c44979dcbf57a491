// SPDX-License-Identifier: MIT
import TargetKit

/// The values of something that changes: the present one first, then each that differs from the one before.
///
/// Only the newest value counts. A reader that takes its time misses what has been replaced meanwhile, and sees nothing of a
/// change that was taken back. Any number of readers may read at the same time, each for itself.
///
/// The sequence ends when its task is cancelled, and when the object that it is from is let go of, to which it does not hold
/// on.
public struct LatestValues<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    /// The place of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private var changes: AsyncStream<Void>.Iterator
        private let current: @Sendable () -> Element
        private var last: Element?

        fileprivate init(_ changes: AsyncStream<Void>, _ current: @escaping @Sendable () -> Element, last: Element?) {
            self.changes = changes.makeAsyncIterator()
            self.current = current
            self.last = last
        }

        /// The next value, as soon as there is one that differs from the last; `nil` at the end.
        public mutating func next() async -> Element? {
            while await changes.next() != nil {
                let value = current()
                guard value != last else { continue }
                last = value
                return value
            }
            return nil
        }
    }

    private let changes: @Sendable () -> AsyncStream<Void>
    private let current: @Sendable () -> Element
    private let known: Element?

    /// What an observed value shows of itself.
    ///
    /// - Parameter known: The value that the reader has already, and which is left out; default: none.
    init<Value>(
        of observed: ObservedValue<Value>,
        known: Element? = nil,
        _ element: @escaping @Sendable (Value) -> Element
    ) {
        changes = { observed.changes() }
        current = { element(observed.value) }
        self.known = known
    }

    /// A new reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(changes(), current, last: known)
    }
}

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

// SPDX-License-Identifier: MIT
import TargetKit

/// The values of a property that changes: the current one first, then each that differs from the one before.
///
/// A slow reader gets only the latest value; it misses values that have been replaced meanwhile. Any number of readers may read at
/// the same time, independently.
///
/// The sequence ends when its task is cancelled, or when the object that it belongs to is released. It does not retain that object.
public struct LatestValues<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    /// One reader of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private var changes: AsyncStream<Void>.Iterator
        private let current: @Sendable () -> Element
        private var last: Element?

        fileprivate init(_ changes: AsyncStream<Void>, _ current: @escaping @Sendable () -> Element, last: Element?) {
            self.changes = changes.makeAsyncIterator()
            self.current = current
            self.last = last
        }

        /// Waits for the next value that differs from the last one; `nil` at the end.
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

    /// The values that a closure makes of an observed value.
    ///
    /// - Parameter known: The value that the reader already has, which is left out; default: none.
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

/// A value behind a lock, whose changes can be observed.
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

    /// The current value.
    package var value: Value { content.withLock { $0.value } }

    /// The number of readers.
    package var readerCount: Int { content.withLock { $0.readers.count } }

    /// Changes the value, and then notifies the readers.
    @discardableResult
    package func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, readers) = content.withLock { content in
            (change(&content.value), Array(content.readers.values))
        }
        for reader in readers { reader.yield() }
        return result
    }

    /// Ends the sequences of all readers, also of later ones.
    package func finish() {
        let readers = content.withLock { content in
            content.isFinished = true
            defer { content.readers.removeAll() }
            return Array(content.readers.values)
        }
        for reader in readers { reader.finish() }
    }

    /// One element at once, and one whenever the value has changed since the last one was taken. Readers read the value itself, so
    /// that they do not see changes out of order.
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
        // Released outside the lock: its end may run other code.
        _ = content.withLock { $0.readers.removeValue(forKey: id) }
    }
}

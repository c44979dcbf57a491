// SPDX-License-Identifier: MIT
import TargetKit

/// A value behind a lock, whose changes can be observed.
package final class ObservedValue<Value: Sendable>: Sendable {
    private struct Content: Sendable {
        var value: Value
        var readers: [(id: Int, reader: AsyncStream<Void>.Continuation)] = []
        var lastReader = 0
        var isFinished = false
    }

    private let content: Locked<Content>

    package init(_ value: Value) {
        content = Locked(Content(value: value))
    }

    /// The current value.
    package var value: Value { content.withLock { $0.value } }

    /// Reads the value without copying it, because changes while a copy exists copy its contents.
    package func read<Result>(_ body: (Value) -> Result) -> Result { content.withLock { body($0.value) } }

    /// The number of readers.
    package var readerCount: Int { content.withLock { $0.readers.count } }

    /// Changes the value, and then notifies the readers.
    @discardableResult
    package func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, readers) = content.withLock { content in
            (change(&content.value), content.readers)
        }
        for (_, reader) in readers { reader.yield() }
        return result
    }

    /// Ends the sequences of all readers, including later ones.
    package func finish() {
        let readers = content.withLock { content in
            content.isFinished = true
            defer { content.readers = [] }
            return content.readers
        }
        for (_, reader) in readers { reader.finish() }
    }

    /// A sequence with one element immediately, and one after each change. Readers read the value itself, so that they
    /// don't see changes out of order.
    package func changes() -> AsyncStream<Void> {
        let (stream, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = content.withLock { content -> Int? in
            guard !content.isFinished else { return nil }
            content.lastReader += 1
            content.readers.append((content.lastReader, reader))
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

    /// A sequence of the elements that a closure makes of the current and later values, without consecutive duplicates.
    /// A slow reader receives only the latest element. Each stream supports one reader.
    package func latestValues<Element: Sendable & Equatable>(
        _ element: @escaping @Sendable (Value) -> Element
    ) -> AsyncStream<Element> {
        let changes = changes()
        let last = Locked<Element?>(nil)
        return AsyncStream {
            for await _ in changes {
                let value = element(self.value)
                let isNew = last.withLock { last in
                    defer { last = value }
                    return last != value
                }
                if isNew { return value }
            }
            return nil
        }
    }

    private func remove(_ id: Int) {
        // Released outside the lock, because its termination handler may run other code.
        _ = content.withLock { content in
            content.readers.firstIndex { $0.id == id }.map { content.readers.remove(at: $0) }
        }
    }
}

// SPDX-License-Identifier: MIT

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

// SPDX-License-Identifier: MIT

/// A list that any thread may append to, and whose length a test can wait for.
public final class Recorder<Element: Sendable>: Sendable {
    private let list = TestLock<[Element]>([])
    private let appended = Tally()

    /// An empty list.
    public init() {}

    /// All elements so far, in the order in which they came.
    public var elements: [Element] { list.withLock { $0 } }

    /// How many elements there are.
    public var count: Int { list.withLock { $0.count } }

    /// Adds an element at the end.
    public func append(_ element: Element) {
        list.withLock { $0.append(element) }
        appended.add()
    }

    /// Waits until at least that many elements are there, and returns all of them. Returns early, with what there is,
    /// when the task is cancelled.
    @discardableResult
    public func waitForCount(_ count: Int) async -> [Element] {
        try? await appended.wait(for: count)
        return elements
    }
}

// SPDX-License-Identifier: MIT

import TargetKit

/// A list that any thread may append to, and whose length a test can wait for.
package final class Recorder<Element: Sendable>: Sendable {
    private let list = Locked<[Element]>([])
    private let appended = Tally()

    /// An empty list.
    package init() {}

    /// All elements so far, in the order in which they came.
    package var elements: [Element] { list.withLock { $0 } }

    /// How many elements there are.
    package var count: Int { list.withLock { $0.count } }

    /// Adds an element at the end.
    package func append(_ element: Element) {
        list.withLock { $0.append(element) }
        appended.add()
    }

    /// Waits until at least that many elements are there, and returns all of them. Returns early, with what there is,
    /// when the task is cancelled.
    @discardableResult
    package func waitForCount(_ count: Int) async -> [Element] {
        try? await appended.wait(for: count)
        return elements
    }
}

// SPDX-License-Identifier: MIT

import TargetKit

/// A list to which any thread can append, and for whose length a test can wait.
package final class Recorder<Element: Sendable>: Sendable {
    private let list = Locked<[Element]>([])
    private let appended = Tally()

    /// Creates an empty list.
    package init() {}

    /// The elements, in the order in which they were appended.
    package var elements: [Element] { list.withLock { $0 } }

    /// The number of elements.
    package var count: Int { list.withLock { $0.count } }

    /// Appends an element.
    package func append(_ element: Element) {
        _ = indexOfAppended(element)
    }

    /// Appends an element, and returns its index.
    package func indexOfAppended(_ element: Element) -> Int {
        let index = list.withLock { list in
            list.append(element)
            return list.count - 1
        }
        appended.add()
        return index
    }

    /// Waits until there is at least a number of elements, and returns all of them. Returns early if the task is
    /// cancelled.
    @discardableResult
    package func waitForCount(_ count: Int) async -> [Element] {
        try? await appended.wait(for: count)
        return elements
    }

    /// Waits for the element with an index.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, for example by the time limit of a test.
    package func element(_ index: Int) async throws -> Element {
        let elements = await waitForCount(index &+ 1)
        guard elements.indices.contains(index) else { throw CancellationError() }
        return elements[index]
    }
}

// SPDX-License-Identifier: MIT
import TargetKit

/// A state whose changes are reported to a callback in order, one at a time, without a lock.
///
/// The first thread that changes the state delivers the events, including those of concurrent changes on other threads
/// or within the callback. The callback may therefore lag behind the state, but is never out of order.
package final class OrderedCallback<State: Sendable, Event: Sendable>: Sendable {
    private struct Content: Sendable {
        var state: State
        var waiting: [Event] = []
        var isDelivering = false
    }

    private let content: Locked<Content>
    private let callback: @Sendable (Event) -> Void

    package init(_ state: State, callback: @escaping @Sendable (Event) -> Void) {
        content = Locked(Content(state: state))
        self.callback = callback
    }

    /// Changes the state, and delivers the events that the change adds to the list.
    @discardableResult
    package func update<Result: Sendable>(_ change: @Sendable (inout State, inout [Event]) -> Result) -> Result {
        let (result, isMine) = content.withLock { content -> (Result, Bool) in
            let result = change(&content.state, &content.waiting)
            let isMine = !content.isDelivering && !content.waiting.isEmpty
            if isMine { content.isDelivering = true }
            return (result, isMine)
        }
        if isMine { while let event = next() { callback(event) } }
        return result
    }

    private func next() -> Event? {
        content.withLock { content in
            guard content.waiting.isEmpty else { return content.waiting.removeFirst() }
            content.isDelivering = false
            return nil
        }
    }
}

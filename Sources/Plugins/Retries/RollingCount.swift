// SPDX-License-Identifier: MIT

/// The numbers of all events and of marked events within a window of time that ends now.
///
/// The window is divided into tenths, so that the memory doesn't grow with the number of events. An event counts for
/// nine to ten tenths of the window.
package struct RollingCount: Sendable {
    private struct Slot: Sendable {
        var number = Int64.min
        var all = 0
        var marked = 0
    }

    private static let slotCount = 10
    private let slotLength: Duration
    private var slots: [Slot] = []

    /// Creates an empty count.
    ///
    /// - Parameter length: The length of the window. If zero or less, only the events of one instant count.
    package init(length: Duration) {
        slotLength = max(length / Self.slotCount, .nanoseconds(1))
    }

    /// Counts one event.
    ///
    /// - Parameter now: The time since any fixed instant.
    package mutating func add(isMarked: Bool = false, at now: Duration) {
        change(at: now) { slot in
            slot.all += 1
            if isMarked { slot.marked += 1 }
        }
    }

    /// Counts another mark, without an event.
    package mutating func mark(at now: Duration) {
        change(at: now) { $0.marked += 1 }
    }

    /// The numbers of events and marks within the window.
    package func totals(at now: Duration) -> (all: Int, marked: Int) {
        let oldest = number(of: now) - Int64(Self.slotCount) + 1
        return slots.reduce(into: (0, 0)) { totals, slot in
            guard slot.number >= oldest else { return }
            totals.0 += slot.all
            totals.1 += slot.marked
        }
    }

    private func number(of time: Duration) -> Int64 {
        let number = (time / slotLength).rounded(.down)
        return Int64(min(max(number, -1e18), 1e18))
    }

    private mutating func change(at now: Duration, change: (inout Slot) -> Void) {
        let number = number(of: now)
        if slots.isEmpty { slots = Array(repeating: Slot(), count: Self.slotCount) }
        let count = Int64(Self.slotCount)
        let index = Int((number % count + count) % count)
        if slots[index].number != number { slots[index] = Slot(number: number) }
        change(&slots[index])
    }
}

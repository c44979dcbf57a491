// SPDX-License-Identifier: MIT
#if os(Linux)

/// The deadlines of waiting calls, as a binary heap with the earliest deadline at the top and an index by call. Adding
/// and removing a deadline takes logarithmic time.
struct CurlDeadlines {
    private struct Item {
        let deadline: UInt64
        /// The call's entry in the queue.
        let entry: Int
    }

    private var items: [Item] = []
    /// The position of each entry's deadline in the heap; `nil` for entries without a deadline.
    private var places: [Int?] = []

    /// The number of deadlines.
    var count: Int { items.count }

    /// The earliest deadline.
    var first: (deadline: UInt64, entry: Int)? { items.first.map { ($0.deadline, $0.entry) } }

    /// Adds the deadline of an entry without one.
    mutating func add(_ deadline: UInt64, of entry: Int) {
        while places.count <= entry { places.append(nil) }
        items.append(Item(deadline: deadline, entry: entry))
        places[entry] = items.count - 1
        moveUp(items.count - 1)
    }

    /// Removes the deadline of an entry, if it has one.
    mutating func remove(_ entry: Int) {
        guard places.indices.contains(entry), let place = places[entry] else { return }
        places[entry] = nil
        let last = items.removeLast()
        guard place < items.count else { return }
        put(last, at: place)
        moveUp(place)
        moveDown(place)
    }

    private mutating func put(_ item: Item, at place: Int) {
        items[place] = item
        places[item.entry] = place
    }

    private mutating func moveUp(_ place: Int) {
        var place = place
        while place > 0, items[place].deadline < items[(place - 1) / 2].deadline {
            swap(place, with: (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func moveDown(_ place: Int) {
        var place = place
        while true {
            let children = (2 * place + 1)..<min(2 * place + 3, max(2 * place + 1, items.count))
            guard let child = children.min(by: { items[$0].deadline < items[$1].deadline }),
                items[child].deadline < items[place].deadline
            else { return }
            swap(place, with: child)
            place = child
        }
    }

    private mutating func swap(_ one: Int, with other: Int) {
        let item = items[one]
        put(items[other], at: one)
        put(item, at: other)
    }
}
#endif

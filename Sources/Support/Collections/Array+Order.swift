// SPDX-License-Identifier: MIT

extension Array {
    /// Sorts the elements. Equal elements keep their order.
    ///
    /// The standard library's `sort(by:)` is compiled for each type of elements and each closure, and takes 5 KB every
    /// time. This one has a loop for a few elements, and sorts the positions of more by code that is compiled once.
    @inlinable
    package mutating func order(by precedes: (Element, Element) -> Bool) {
        withUnsafeMutableBufferPointer { elements in
            if elements.count > 8 { return Positions.order(elements, by: precedes) }
            for end in elements.indices {
                var position = end
                while position > 0, precedes(elements[position], elements[position - 1]) {
                    elements.swapAt(position, position - 1)
                    position -= 1
                }
            }
        }
    }

    /// The elements in order. Equal elements keep theirs.
    @inlinable
    package consuming func ordered(by precedes: (Element, Element) -> Bool) -> Self {
        order(by: precedes)
        return self
    }
}

@usableFromInline
enum Positions {
    @inlinable
    static func order<Element>(
        _ elements: UnsafeMutableBufferPointer<Element>,
        by precedes: (Element, Element) -> Bool
    ) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: elements.count) { order in
            sort(order) { precedes(elements[$0], elements[$1]) }
            for start in order.indices {
                var position = start
                while order[position] != start {
                    let next = order[position]
                    elements.swapAt(position, next)
                    order[position] = position
                    position = next
                }
                order[position] = position
            }
        }
    }

    /// Fills the memory with the positions in it, sorted.
    @usableFromInline
    static func sort(_ positions: UnsafeMutableBufferPointer<Int>, by precedes: (Int, Int) -> Bool) {
        for position in positions.indices { positions.initializeElement(at: position, to: position) }
        var positions = positions
        positions.sort(by: precedes)
    }
}

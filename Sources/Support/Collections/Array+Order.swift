// SPDX-License-Identifier: MIT

extension Array {
    /// Sorts the elements. Equal elements keep their order.
    ///
    /// The standard library's `sort(by:)` is compiled for each type of elements and each closure, and takes 5 KB every
    /// time. This one has a loop for a few elements, and sorts the positions of more by code that is compiled once.
    @inlinable
    package mutating func order(by precedes: (Element, Element) -> Bool) {
        guard count <= 8 else {
            self = Positions.ordered(self, by: precedes)
            return
        }
        withUnsafeMutableBufferPointer { elements in
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
    static func ordered<Element>(_ elements: [Element], by precedes: (Element, Element) -> Bool) -> [Element] {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: elements.count) { positions in
            // An element of an array that doesn't change is compared without being retained.
            sort(positions) { precedes(elements[$0], elements[$1]) }
            return positions.map { elements[$0] }
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

// SPDX-License-Identifier: MIT

/// Values on their way into arrays. An array is made when its length is known: with one allocation, and by moving the values,
/// which costs no reference counting.
struct MoveStack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 64
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count += 1
    }

    /// The last value, which is no longer here; `nil` when there is none.
    @inline(__always)
    mutating func pop() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return (base + count).move()
    }

    /// The values from an offset on, of which nothing is left here.
    @inline(__always)
    mutating func take(from start: Int) -> [Element] {
        let length = count - start
        guard length > 0 else { return [] }
        let source = base + start
        count = start
        return Array(unsafeUninitializedCapacity: length) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: source, count: length)
            initialized = length
        }
    }

    /// Puts a value in the place of another.
    mutating func replace(at offset: Int, with element: consuming Element) {
        guard offset >= 0, offset < count else { return }
        base[offset] = element
    }

    /// The values from an offset on, for as long as the call.
    @inline(__always)
    borrowing func read<Result>(from start: Int, _ body: (UnsafeBufferPointer<Element>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: base + start, count: count - start))
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }
}

// SPDX-License-Identifier: MIT

import Foundation

/// Bytes that grow at the end: what every encoder writes into.
///
/// An `[UInt8]` asks at each append whether it is shared and whether there is room, which costs more than the byte. Here a
/// writer reserves for a whole value once and then stores bytes. It cannot be copied, so it has one owner that frees it.
struct ByteBuffer: ~Copyable {
    /// `nil` until there is room for something.
    private var base: UnsafeMutablePointer<UInt8>?
    private var capacity: Int
    private(set) var count = 0

    /// An empty buffer with room for some bytes.
    init(capacity: Int) {
        self.capacity = max(capacity, 0)
        base = capacity > 0 ? .allocate(capacity: capacity) : nil
    }

    deinit {
        base?.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// The bytes as text; they are UTF-8 since only UTF-8 is ever written.
    var string: String { String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) }

    var data: Data { Data(UnsafeBufferPointer(start: base, count: count)) }

    /// Lets a reader see the bytes, for as long as the call.
    @inline(__always)
    borrowing func read(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Lets a writer store bytes past the end. It gets room for `limit` of them, and says how many it has stored.
    @inline(__always)
    mutating func append(upTo limit: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        if capacity - count < limit { grow(by: limit) }
        if let base { count += write(base + count) }
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        append(upTo: 1) { end in
            end.pointee = byte
            return 1
        }
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        append(upTo: bytes.count) { end in
            end.update(from: start, count: bytes.count)
            return bytes.count
        }
    }

    /// Appends the text's UTF-8 as it is.
    @inline(__always)
    mutating func append(_ text: some StringProtocol) {
        ContiguousText.read(text) { append($0) }
    }

    /// Appends the text's UTF-8 as it is.
    @inline(__always)
    mutating func append(literal text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Cuts off what was written since the count was `count`.
    mutating func truncate(to count: Int) {
        self.count = min(self.count, max(count, 0))
    }

    private mutating func grow(by extra: Int) {
        let larger = max(capacity * 2, count + extra, 64)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        if let base {
            moved.moveInitialize(from: base, count: count)
            base.deallocate()
        }
        base = moved
        capacity = larger
    }
}

/// A text's bytes where they are.
enum ContiguousText {
    @inline(__always)
    static func read<Result>(_ text: some StringProtocol, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        // A text bridged from NSString is not contiguous UTF-8: it is copied once.
        return Array(text.utf8).withUnsafeBufferPointer(body)
    }
}

// SPDX-License-Identifier: MIT

/// The growing buffer that every encoder writes into.
///
/// Each append to an `[UInt8]` checks uniqueness and capacity, which costs more than storing the byte. Here, a writer
/// reserves capacity once for a whole value. The buffer is noncopyable, so it has one owner that frees it.
@usableFromInline
package struct ByteBuffer: ~Copyable {
    /// The memory; `nil` while the capacity is zero.
    @usableFromInline var base: UnsafeMutablePointer<UInt8>?
    @usableFromInline var capacity: Int
    @usableFromInline package internal(set) var count = 0

    /// Creates an empty buffer with a capacity in bytes.
    @inlinable
    package init(capacity: Int) {
        self.capacity = max(capacity, 0)
        base = capacity > 0 ? .allocate(capacity: capacity) : nil
    }

    @inlinable
    deinit {
        base?.deallocate()
    }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The bytes as a string. Encoders write only UTF-8.
    package var string: String { String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) }

    package var data: Data { Data(UnsafeBufferPointer(start: base, count: count)) }

    /// Calls a closure with the bytes, which are valid only during the call.
    @inlinable @inline(__always)
    package borrowing func read(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Reserves `limit` bytes and calls a closure that stores bytes at the end and returns their number.
    @inlinable @inline(__always)
    package mutating func append(upTo limit: Int, write: (UnsafeMutablePointer<UInt8>) -> Int) {
        if capacity - count < limit { grow(by: limit) }
        if let base { count += write(base + count) }
    }

    @inlinable @inline(__always)
    package mutating func append(_ byte: UInt8) {
        append(upTo: 1) { end in
            end.pointee = byte
            return 1
        }
    }

    @inlinable @inline(__always)
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        append(upTo: bytes.count) { end in
            end.update(from: start, count: bytes.count)
            return bytes.count
        }
    }

    /// Appends the text's unchanged UTF-8.
    @inlinable @inline(__always)
    package mutating func append(_ text: some StringProtocol) {
        ContiguousText.read(text) { append($0) }
    }

    /// Appends the text's unchanged UTF-8.
    @inlinable @inline(__always)
    package mutating func append(literal text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Removes all bytes after the first `count`.
    package mutating func truncate(to count: Int) {
        self.count = min(self.count, max(count, 0))
    }

    @usableFromInline
    mutating func grow(by extra: Int) {
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

/// Access to the UTF-8 bytes of a string without copying them.
@usableFromInline
package enum ContiguousText {
    @inlinable @inline(__always)
    package static func read<Result>(_ text: some StringProtocol, body: (UnsafeBufferPointer<UInt8>) -> Result)
        -> Result
    {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        // A string bridged from `NSString` isn't contiguous UTF-8 and is copied once.
        return Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// The parts one after another. Unlike an interpolation, it allocates once.
    package static func joined(_ parts: [String]) -> String {
        String(unsafeUninitializedCapacity: parts.reduce(0) { $0 + $1.utf8.count }) { text in
            var end = 0
            for part in parts { read(part) { end = text[end...].initialize(fromContentsOf: $0) } }
            return end
        }
    }

    /// Both texts with an ASCII character between them. Unlike `+`, it allocates once.
    @inlinable
    package static func joined(_ first: some StringProtocol, _ mark: Unicode.Scalar, _ second: some StringProtocol)
        -> String
    {
        read(first) { first in
            read(second) { second in
                String(unsafeUninitializedCapacity: first.count + 1 + second.count) { text in
                    let count = text.initialize(fromContentsOf: first)
                    text.initializeElement(at: count, to: UInt8(ascii: mark))
                    return text[(count + 1)...].initialize(fromContentsOf: second)
                }
            }
        }
    }
}

/// The text of numbers in every format, the shortest that reads back to the number (`1` for `1.0`).
package enum NumberText {
    /// Appends an integer's digits without creating a `String`.
    package static func append(_ value: Int64, to buffer: inout ByteBuffer) {
        if value < 0 { buffer.append(UInt8(ascii: "-")) }
        append(value.magnitude, to: &buffer)
    }

    /// Appends an integer's digits without creating a `String`.
    package static func append(_ value: UInt64, to buffer: inout ByteBuffer) {
        var count = 1
        var larger = value / 10
        while larger > 0 {
            larger /= 10
            count += 1
        }
        buffer.append(upTo: count) { start in
            var rest = value
            for offset in (0..<count).reversed() {
                start[offset] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return count
        }
    }
}

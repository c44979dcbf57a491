// SPDX-License-Identifier: MIT

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
}

extension String {
    /// Whether its UTF-8 bytes are in order before those of the other. For composed text, this is also the order of
    /// `String`.
    package func hasBytes(before other: String) -> Bool {
        // Most names differ in their first byte.
        if let first = utf8.first, let second = other.utf8.first, first != second { return first < second }
        return ContiguousText.read(self) { bytes in
            ContiguousText.read(other) { bytes.lexicographicallyPrecedes($0) }
        }
    }
}

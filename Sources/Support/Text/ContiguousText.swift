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
    /// Whether the bytes of UTF-8 precede those of another text. For composed text, this is also the order of `String`.
    package func hasBytes(before other: String) -> Bool { order(to: other) < 0 }

    /// Whether the strings have the same bytes of UTF-8. Equal strings can have different ones, if one of them has a
    /// composed character.
    package func hasBytes(of other: String) -> Bool { utf8.count == other.utf8.count && order(to: other) == 0 }

    /// The order of the bytes of UTF-8: below zero if they precede those of another text, 0 if both are the same.
    private func order(to other: String) -> Int {
        ContiguousText.read(self) { own in
            ContiguousText.read(other) { other in
                guard let first = own.baseAddress, let second = other.baseAddress else {
                    return own.count - other.count
                }
                let order = memcmp(first, second, min(own.count, other.count))
                return order == 0 ? own.count - other.count : Int(order)
            }
        }
    }
}

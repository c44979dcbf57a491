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

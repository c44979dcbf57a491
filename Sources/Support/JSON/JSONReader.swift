// SPDX-License-Identifier: MIT

/// The position in a JSON text (RFC 8259), with the steps that parsing and validating share.
///
/// The parser of TargetKitJSON takes these steps several times for each value, so the shortest of them are inlined there.
@usableFromInline
package struct JSONReader: ~Copyable {
    /// The maximum nesting depth of what a program reads: 512, the limit of `JSONDecoder`. Comparing, writing and
    /// deallocating a value are recursive, and a thread's stack may be only 512 KB.
    @inlinable package static var maximumDepth: Int { 512 }

    private let start: UnsafePointer<UInt8>
    /// Whether half a surrogate pair is allowed, as in the grammar (RFC 8259 §8.2).
    let allowsHalfPairs: Bool
    @usableFromInline package let end: UnsafePointer<UInt8>
    @usableFromInline package var cursor: UnsafePointer<UInt8>

    /// Creates a reader, and skips a byte order mark (RFC 8259 §8.1). The bytes must outlive it.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, allowsHalfPairs: Bool) throws(JSONParsingError) {
        guard let base = bytes.baseAddress else { throw JSONParsingError(.value, at: 0) }
        start = base
        self.allowsHalfPairs = allowsHalfPairs
        end = base + bytes.count
        let hasMark = bytes.count >= 3 && base[0] == 0xEF && base[1] == 0xBB && base[2] == 0xBF
        cursor = hasMark ? base + 3 : base
    }

    /// The offset of the cursor.
    var offset: Int { cursor - start }

    @inlinable @inline(__always)
    package mutating func skipSpace() {
        while cursor < end, cursor.pointee <= 0x20, cursor.pointee.isJSONSpace { cursor += 1 }
    }

    /// Skips white space, and the byte if it follows.
    @inlinable @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard cursor < end, cursor.pointee == byte else { return false }
        cursor += 1
        return true
    }

    package mutating func skipLiteral(_ text: StaticString) throws(JSONParsingError) {
        let length = text.utf8CodeUnitCount
        for offset in 0..<length where cursor + offset >= end || cursor[offset] != text.utf8Start[offset] {
            throw error(.value)
        }
        cursor += length
    }

    /// Checks that only white space follows.
    package mutating func finish() throws(JSONParsingError) {
        skipSpace()
        guard cursor == end else { throw error(.endOfText) }
    }

    package func error(_ reason: JSONParsingError.Reason) -> JSONParsingError {
        JSONParsingError(reason, at: offset)
    }
}

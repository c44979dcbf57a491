// SPDX-License-Identifier: MIT

/// The position in a JSON text (RFC 8259), with the steps that parsing and validating share.
struct JSONReader: ~Copyable {
    private let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    /// The unescaped bytes of the current string.
    var unescaped = ByteBuffer(capacity: 0)

    /// Creates a reader, and skips a byte order mark (RFC 8259 §8.1). The bytes must outlive it.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) {
        guard let base = bytes.baseAddress else { throw JSONParsingError(.value, at: 0) }
        start = base
        end = base + bytes.count
        let hasMark = bytes.count >= 3 && base[0] == 0xEF && base[1] == 0xBB && base[2] == 0xBF
        cursor = hasMark ? base + 3 : base
    }

    /// The offset of the cursor.
    var offset: Int { cursor - start }

    @inline(__always)
    mutating func skipSpace() {
        while cursor < end, cursor.pointee <= 0x20, cursor.pointee.isJSONSpace { cursor += 1 }
    }

    /// Skips white space, and the byte if it follows.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard cursor < end, cursor.pointee == byte else { return false }
        cursor += 1
        return true
    }

    mutating func skipLiteral(_ text: StaticString) throws(JSONParsingError) {
        let length = text.utf8CodeUnitCount
        for offset in 0..<length where cursor + offset >= end || cursor[offset] != text.utf8Start[offset] {
            throw error(.value)
        }
        cursor += length
    }

    /// Checks that only white space follows.
    mutating func finish() throws(JSONParsingError) {
        skipSpace()
        guard cursor == end else { throw error(.endOfText) }
    }

    func error(_ reason: JSONParsingError.Reason) -> JSONParsingError {
        JSONParsingError(reason, at: offset)
    }
}

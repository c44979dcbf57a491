// SPDX-License-Identifier: MIT

/// Sorts names by their UTF-8 bytes. For composed text, this is also the order of `String`.
///
/// Comparing two strings takes tens of instructions, so the first 16 bytes of each name are read once. After the common
/// prefix, the next 6 bytes are compared as one number; ties are sorted by the following bytes. Only names with 16
/// equal bytes are compared as strings.
@usableFromInline
package enum KeyOrder {
    /// The first 16 bytes of a name as numbers, padded with zeros, and the index of its pair.
    @usableFromInline
    struct Beginning<Index> {
        @usableFromInline let high: UInt64
        @usableFromInline let low: UInt64
        @usableFromInline let index: Index

        @inlinable @inline(__always)
        init(of key: String, at index: Index) {
            (high, low) = ContiguousText.read(key) { KeyOrder.numbers(UnsafeRawBufferPointer($0)) }
            self.index = index
        }

        /// The eight bytes after the common prefix, padded with zeros.
        @inlinable @inline(__always)
        func rank(after shared: Int) -> UInt64 {
            shared < 8 ? high << UInt64(shared * 8) | low >> UInt64(64 - shared * 8) : low << UInt64(shared * 8 - 64)
        }
    }

    /// Calls `body` with the pairs of a dictionary, sorted by name or in the dictionary's own order.
    @inlinable
    package static func forEach<Value>(
        in dictionary: [String: Value],
        sorted: Bool,
        _ body: (String, Value) throws -> Void
    ) throws {
        guard sorted, dictionary.count > 1 else {
            for (key, value) in dictionary { try body(key, value) }
            return
        }
        guard dictionary.count <= positionMask else {
            let pairs = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (key, value) in pairs { try body(key, value) }
            return
        }
        // The two lists are on the stack, unless they are long.
        try withUnsafeTemporaryAllocation(
            of: Beginning<Dictionary<String, Value>.Index>.self,
            capacity: dictionary.count
        ) { beginnings in
            read(dictionary, into: beginnings)
            defer { beginnings.deinitialize() }
            try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: dictionary.count) { entries in
                for position in entries.indices { entries.initializeElement(at: position, to: UInt64(position)) }
                sort(entries, by: beginnings) { dictionary.keys[beginnings[$0].index] }
                for entry in entries {
                    let (key, value) = dictionary[beginnings[position(of: entry)].index]
                    try body(key, value)
                }
            }
        }
    }

    @inlinable
    static func read<Value>(
        _ dictionary: [String: Value],
        into beginnings: UnsafeMutableBufferPointer<Beginning<Dictionary<String, Value>.Index>>
    ) {
        var index = dictionary.startIndex
        for (position, key) in dictionary.keys.enumerated() {
            beginnings.initializeElement(at: position, to: Beginning(of: key, at: index))
            dictionary.formIndex(after: &index)
        }
    }

    /// The mask of the position. A sort entry is one number that consists of six bytes of the name and the position.
    @inlinable static var positionMask: UInt64 { 0xFFFF }

    @inlinable
    static func position(of entry: UInt64) -> Int {
        Int(truncatingIfNeeded: entry & positionMask)
    }

    /// Sorts by the bytes after the common prefix, then sorts ties recursively by the following bytes.
    @inlinable
    static func sort<Index>(
        _ entries: UnsafeMutableBufferPointer<UInt64>,
        by beginnings: UnsafeMutableBufferPointer<Beginning<Index>>,
        key: (Int) -> String
    ) {
        guard entries.count > 1 else { return }
        let first = beginnings[position(of: entries[0])]
        var (high, low): (UInt64, UInt64) = (0, 0)
        for entry in entries {
            high |= beginnings[position(of: entry)].high ^ first.high
            low |= beginnings[position(of: entry)].low ^ first.low
        }
        var sorted = entries
        guard high != 0 || low != 0 else {
            return sorted.sort { one, other in
                key(position(of: one)).utf8.lexicographicallyPrecedes(key(position(of: other)).utf8)
            }
        }
        let shared = (high != 0 ? high.leadingZeroBitCount : 64 + low.leadingZeroBitCount) / 8
        for index in entries.indices {
            let position = position(of: entries[index])
            entries[index] = beginnings[position].rank(after: shared) & ~positionMask | UInt64(position)
        }
        sorted.sort()
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end] & ~positionMask == entries[start] & ~positionMask { end += 1 }
            sort(UnsafeMutableBufferPointer(rebasing: entries[start..<end]), by: beginnings, key: key)
            start = end
        }
    }

    /// Sorts elements by a name, in this order.
    @inlinable
    package static func sort<Element>(_ elements: inout [Element], by name: (Element) -> String) {
        guard elements.count > 1 else { return }
        elements.sort { name($0).utf8.lexicographicallyPrecedes(name($1).utf8) }
    }

    /// Bytes 0–7 and 8–15 as numbers with the same order as the bytes. For short names, the load starts earlier and
    /// shifts out the bytes that are already known.
    @inlinable @inline(__always)
    static func numbers(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        let count = bytes.count
        guard count >= 8 else { return (short(bytes), 0) }
        let high = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self).bigEndian
        guard count < 16 else { return (high, bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian) }
        let low = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self).bigEndian
        return (high, low << UInt64((16 - count) * 8))
    }

    @inlinable @inline(__always)
    static func short(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard bytes.count >= 4 else {
            var number: UInt64 = 0
            for byte in bytes { number = number &<< 8 | UInt64(byte) }
            return number << UInt64((8 - bytes.count) * 8)
        }
        let high = UInt64(bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self).bigEndian)
        let low = UInt64(bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self).bigEndian)
        return high << 32 | (low << UInt64((8 - bytes.count) * 8)) & 0xFFFF_FFFF
    }
}

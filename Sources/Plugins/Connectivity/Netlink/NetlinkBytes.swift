// SPDX-License-Identifier: MIT
#if os(Linux)

/// Bytes of a netlink message, read with their bounds in mind: what is not there is `nil`, never a trap.
///
/// The layouts are those of `linux/netlink.h` and `linux/rtnetlink.h`, in the machine's byte order. Swift's Glibc module has
/// neither of them.
package struct NetlinkBytes: Sendable {
    private let bytes: ArraySlice<UInt8>

    package init(_ bytes: some Sequence<UInt8>) {
        self.bytes = ArraySlice(bytes)
    }

    private init(slice: ArraySlice<UInt8>) {
        bytes = slice
    }

    package var count: Int { bytes.count }

    /// The integer at that offset.
    package func load<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= count - MemoryLayout<Value>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// What is left without that many bytes; nothing when there are fewer.
    package func dropping(_ count: Int) -> NetlinkBytes {
        NetlinkBytes(slice: bytes.dropFirst(max(0, count)))
    }

    private func prefix(_ count: Int) -> NetlinkBytes {
        NetlinkBytes(slice: bytes.prefix(max(0, count)))
    }

    /// The text up to the first zero byte.
    package var text: String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The records that follow each other, each beginning with its own length in a field of that type; up to the first whose
    /// length cannot be.
    ///
    /// - Parameter header: The length of what each record begins with, the least that its length may be.
    package func records<Length: FixedWidthInteger & BitwiseCopyable>(
        lengthIn type: Length.Type,
        header: Int
    ) -> [NetlinkBytes] {
        var records: [NetlinkBytes] = []
        var rest = self
        while let length = rest.load(type, at: 0), length >= header, length <= rest.count {
            records.append(rest.prefix(Int(length)))
            // Each begins at a multiple of four bytes.
            rest = rest.dropping((Int(length) + 3) & ~3)
        }
        return records
    }

    /// The attributes (`struct rtattr`) by their type, the last of each.
    package func attributes() -> [UInt16: NetlinkBytes] {
        var attributes: [UInt16: NetlinkBytes] = [:]
        for record in records(lengthIn: UInt16.self, header: 4) {
            guard let type = record.load(UInt16.self, at: 2) else { continue }
            // The two bits above say how the attribute is laid out, not which it is.
            attributes[type & 0x3FFF] = record.dropping(4)
        }
        return attributes
    }
}
#endif

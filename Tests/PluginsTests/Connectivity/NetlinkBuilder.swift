// SPDX-License-Identifier: MIT
#if os(Linux)

/// Bytes as the kernel writes them, made by hand.
struct NetlinkBuilder {
    private(set) var bytes: [UInt8] = []

    /// A message (`struct nlmsghdr`) with that content.
    static func message(_ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 7, _ payload: [UInt8]) -> [UInt8] {
        var builder = NetlinkBuilder()
        builder.add(UInt32(16 + payload.count))
        builder.add(type)
        builder.add(flags)
        builder.add(sequence)
        builder.add(UInt32(0))
        builder.bytes += payload
        return padded(builder.bytes)
    }

    /// An attribute (`struct rtattr`).
    static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        var builder = NetlinkBuilder()
        builder.add(UInt16(4 + payload.count))
        builder.add(type)
        return padded(builder.bytes + payload)
    }

    static func link(_ index: Int32, _ name: String, flags: UInt32, hardware: UInt16 = 1, kind: String? = nil)
        -> [UInt8]
    {
        var builder = NetlinkBuilder()
        builder.add(UInt16(0))
        builder.add(hardware)
        builder.add(index)
        builder.add(flags)
        builder.add(UInt32(0))
        let information = kind.map { attribute(18 | 0x8000, attribute(1, Array($0.utf8) + [0])) } ?? []
        return builder.bytes + attribute(3, Array(name.utf8) + [0]) + information
    }

    static func address(_ family: UInt8, link: Int32, scope: UInt8 = 0, flags: UInt8 = 0, long: UInt32? = nil)
        -> [UInt8]
    {
        var builder = NetlinkBuilder()
        builder.bytes = [family, 24, flags, scope]
        builder.add(link)
        return builder.bytes + attribute(1, [10, 0, 0, 2]) + (long.map { attribute(8, number($0)) } ?? [])
    }

    static func route(
        _ family: UInt8 = 2,
        prefix: UInt8 = 0,
        table: UInt8 = 254,
        type: UInt8 = 1,
        flags: UInt32 = 0,
        attributes: [UInt8]
    ) -> [UInt8] {
        [family, prefix, 0, 0, table, 3, 0, type] + number(flags) + attributes
    }

    /// A hop of several (`struct rtnexthop`).
    static func hop(_ link: Int32, flags: UInt8 = 0) -> [UInt8] {
        number(UInt16(16)) + [flags, 0] + number(link) + attribute(5, [10, 0, 0, 1])
    }

    static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    private mutating func add(_ value: some FixedWidthInteger) {
        bytes += Self.number(value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
#endif

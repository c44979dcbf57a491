// SPDX-License-Identifier: MIT
#if os(Linux)

/// A message of the kernel about links, addresses and routes that is relevant for reachability.
package struct NetlinkMessage: Sendable, Equatable {
    /// The content of a message.
    package enum Content: Sendable, Equatable {
        case link(NetlinkLink)
        case address(NetlinkAddress)
        case defaultRoute(NetlinkRoute)
        /// A link, address or route was removed.
        case removal
        /// The end of a dump; the number is zero, or the negative of an `errno`.
        case done(Int32)
        /// The kernel rejected the request. The number is the negative of an `errno`.
        case failure(Int32)
        /// Messages were lost.
        case overrun
        /// Another message: a route to a single network, another type, or one that can't be read.
        case other
    }

    /// The content.
    package var content: Content
    /// The number of the request to which it responds.
    package var sequence: UInt32
    /// Whether a change interrupted the dump to which it belongs.
    package var isInterrupted: Bool

    /// The messages in the bytes of one read, up to the first one with an invalid length.
    package static func all(in bytes: some Sequence<UInt8>) -> [NetlinkMessage] {
        NetlinkBytes(bytes).records(lengthIn: UInt32.self, header: 16).compactMap(Self.init)
    }

    /// `struct nlmsghdr`: length, type, flags, sequence, port.
    private init?(_ record: NetlinkBytes) {
        guard let type = record.load(UInt16.self, at: 4), let flags = record.load(UInt16.self, at: 6),
            let sequence = record.load(UInt32.self, at: 8)
        else { return nil }
        content = Self.content(type, payload: record.dropping(16))
        self.sequence = sequence
        // NLM_F_DUMP_INTR
        isInterrupted = flags & 0x10 != 0
    }

    private static func content(_ type: UInt16, payload: NetlinkBytes) -> Content {
        switch type {
        // NLMSG_ERROR, NLMSG_DONE, NLMSG_OVERRUN
        case 2: .failure(payload.load(Int32.self, at: 0) ?? -1)
        case 3: .done(payload.load(Int32.self, at: 0) ?? 0)
        case 4: .overrun
        // RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE
        case 16: NetlinkLink(payload).map(Content.link) ?? .other
        case 20: NetlinkAddress(payload).map(Content.address) ?? .other
        case 24: NetlinkRoute(payload).map(Content.defaultRoute) ?? .other
        // RTM_DELLINK, RTM_DELADDR
        case 17, 21: .removal
        // RTM_DELROUTE
        case 25: NetlinkRoute(payload) == nil ? .other : .removal
        default: .other
        }
    }
}

/// The bytes of a netlink message. Reads are bounds-checked, and missing bytes are `nil`.
///
/// The layouts follow `linux/netlink.h` and `linux/rtnetlink.h`, which Swift's Glibc module lacks, in the machine's
/// byte order.
package struct NetlinkBytes: Sendable {
    private let bytes: ArraySlice<UInt8>

    package init(_ bytes: some Sequence<UInt8>) {
        self.bytes = ArraySlice(bytes)
    }

    private init(slice: ArraySlice<UInt8>) {
        bytes = slice
    }

    package var count: Int { bytes.count }

    /// The integer at an offset.
    package func load<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= count - MemoryLayout<Value>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// The bytes without a number of first bytes; empty if there are fewer.
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

    /// The consecutive records, up to the first one with an invalid length. Each record starts with its length.
    ///
    /// - Parameter header: The length of a record's header, which is its minimum length.
    package func records<Length: FixedWidthInteger & BitwiseCopyable>(
        lengthIn type: Length.Type,
        header: Int
    ) -> [NetlinkBytes] {
        var records: [NetlinkBytes] = []
        var rest = self
        while let length = rest.load(type, at: 0), length >= header, length <= rest.count {
            records.append(rest.prefix(Int(length)))
            // Aligned to four bytes.
            rest = rest.dropping((Int(length) + 3) & ~3)
        }
        return records
    }

    /// The attribute (`struct rtattr`) of a type, in a list of attributes. The last attribute of a type counts.
    package func attribute(_ type: UInt16) -> NetlinkBytes? {
        // The two highest bits are flags of the layout, not part of the type.
        records(lengthIn: UInt16.self, header: 4).last { $0.load(UInt16.self, at: 2).map { $0 & 0x3FFF } == type }?
            .dropping(4)
    }
}
#endif

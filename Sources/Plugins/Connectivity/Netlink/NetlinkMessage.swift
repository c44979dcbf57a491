// SPDX-License-Identifier: MIT
#if os(Linux)

/// One message of the kernel's about links, addresses and routes, as far as it counts for reachability.
package struct NetlinkMessage: Sendable, Hashable {
    /// What a message says.
    package enum Content: Sendable, Hashable {
        case link(NetlinkLink)
        case address(NetlinkAddress)
        case defaultRoute(NetlinkRoute)
        /// Something of that kind is gone.
        case removal
        /// The end of a dump; the number is zero, or the negative of an `errno`.
        case done(Int32)
        /// The kernel refuses; the number is the negative of an `errno`.
        case failure(Int32)
        /// Messages have been lost.
        case overrun
        /// Nothing that counts: a route to one network, a message of another kind, or one that cannot be read.
        case other
    }

    /// What it says.
    package var content: Content
    /// The number of the request that it answers.
    package var sequence: UInt32
    /// The dump that it is a part of was overtaken by a change.
    package var isInterrupted: Bool

    /// The messages in what one call has read, up to the first whose length cannot be.
    package static func all(in bytes: some Sequence<UInt8>) -> [NetlinkMessage] {
        NetlinkBytes(bytes).records(lengthIn: UInt32.self, header: 16).compactMap(Self.init)
    }

    /// `struct nlmsghdr`: length, type, flags, sequence, port.
    private init?(_ record: NetlinkBytes) {
        guard let type = record.load(UInt16.self, at: 4), let flags = record.load(UInt16.self, at: 6),
            let sequence = record.load(UInt32.self, at: 8)
        else { return nil }
        content = Self.content(type, record.dropping(16))
        self.sequence = sequence
        // NLM_F_DUMP_INTR
        isInterrupted = flags & 0x10 != 0
    }

    private static func content(_ type: UInt16, _ payload: NetlinkBytes) -> Content {
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
#endif

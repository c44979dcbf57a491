// SPDX-License-Identifier: MIT
#if os(Linux)

/// A snapshot of the kernel's links, addresses and default routes.
package struct NetlinkTable: Sendable, Equatable {
    package var links: [NetlinkLink] = []
    package var addresses: [NetlinkAddress] = []
    package var routes: [NetlinkRoute] = []

    package init() {}

    /// Adds the content of a message of a dump.
    package mutating func add(_ content: NetlinkMessage.Content) {
        switch content {
        case .link(let link): links.append(link)
        case .address(let address): addresses.append(address)
        case .defaultRoute(let route): routes.append(route)
        case .removal, .done, .failure, .overrun, .other: break
        }
    }

    /// The link that leads to the network, if any.
    ///
    /// - Parameter requirement: The requirement for the link.
    package func outgoingLink(_ requirement: NetlinkConnectivity.Requirement) -> NetlinkLink? {
        let usable = links.filter(\.isUsable).ordered { $0.index < $1.index }
        switch requirement {
        case .address:
            return usable.first { hasAddress(on: $0) }
        case .defaultRoute:
            // The loopback may have the machine's public address.
            let answering = usable + links.filter { $0.isUp && $0.isLoopback }
            for route in routes.ordered(by: { $0.metric < $1.metric })
            where answering.contains(where: { hasAddress(on: $0, family: route.family) }) {
                for index in route.links {
                    if let link = usable.last(where: { $0.index == index }) { return link }
                }
            }
            return nil
        }
    }

    /// Whether a link has an address, of one family or of any, whose scope is larger than the link.
    private func hasAddress(on link: NetlinkLink, family: UInt8? = nil) -> Bool {
        addresses.contains { $0.isGlobal && $0.link == link.index && $0.family == family ?? $0.family }
    }
}

/// The kernel's description of a network device (`struct ifinfomsg`).
package struct NetlinkLink: Sendable, Equatable {
    /// The index by which addresses and routes refer to it.
    package var index: Int32
    /// The name, for example `eth0`.
    package var name: String
    /// `IFF_…`
    package var flags: UInt32
    /// The hardware type, `ARPHRD_…`.
    package var hardware: UInt16
    /// The kind of a virtual device, for example `veth` or `wireguard`; empty for hardware.
    package var kind: String

    package init(index: Int32, name: String, flags: UInt32, hardware: UInt16 = 1, kind: String = "") {
        self.index = index
        self.name = name
        self.flags = flags
        self.hardware = hardware
        self.kind = kind
    }

    /// Returns `nil` if the message is too short.
    package init?(_ payload: NetlinkBytes) {
        guard let hardware = payload.load(UInt16.self, at: 2), let index = payload.load(Int32.self, at: 4),
            let flags = payload.load(UInt32.self, at: 8), payload.count >= 16
        else { return nil }
        let attributes = payload.dropping(16)
        self.index = index
        self.flags = flags
        self.hardware = hardware
        // IFLA_IFNAME; in IFLA_LINKINFO: IFLA_INFO_KIND
        name = attributes.attribute(3)?.text ?? ""
        kind = attributes.attribute(18)?.attribute(1)?.text ?? ""
    }

    /// Whether the link is switched on (`IFF_UP`).
    package var isUp: Bool { flags & 0x1 != 0 }
    /// Whether the link leads only to this machine (`IFF_LOOPBACK`).
    package var isLoopback: Bool { flags & 0x8 != 0 }
    /// Whether the link is switched on and connected (`IFF_UP` and `IFF_RUNNING`), and isn't the loopback.
    package var isUsable: Bool { flags & 0x49 == 0x41 }
}

/// An address of this machine (`struct ifaddrmsg`).
package struct NetlinkAddress: Sendable, Equatable {
    /// `AF_INET` is 2, `AF_INET6` is 10.
    package var family: UInt8
    /// The link that has the address.
    package var link: Int32
    /// Whether its scope is larger than the link.
    package var isGlobal: Bool

    package init(family: UInt8, link: Int32, isGlobal: Bool) {
        self.family = family
        self.link = link
        self.isGlobal = isGlobal
    }

    /// Returns `nil` if the message is too short.
    package init?(_ payload: NetlinkBytes) {
        guard let family = payload.load(UInt8.self, at: 0), let shortFlags = payload.load(UInt8.self, at: 2),
            let scope = payload.load(UInt8.self, at: 3), let link = payload.load(Int32.self, at: 4)
        else { return nil }
        // IFA_FLAGS, which is larger than the field
        let flags = payload.dropping(8).attribute(8)?.load(UInt32.self, at: 0) ?? UInt32(shortFlags)
        self.family = family
        self.link = link
        // A scope below RT_SCOPE_LINK, without IFA_F_TENTATIVE and IFA_F_DADFAILED, which mark an address that another
        // host may have
        isGlobal = scope < 253 && flags & 0x48 == 0
    }
}

/// A default route (`struct rtmsg`).
package struct NetlinkRoute: Sendable, Equatable {
    /// `AF_INET` is 2, `AF_INET6` is 10.
    package var family: UInt8
    /// The metric. The route with the lowest metric is preferred.
    package var metric: UInt32
    /// The links that the route uses. Any of them is sufficient.
    package var links: [Int32]

    package init(family: UInt8, metric: UInt32 = 0, links: [Int32]) {
        self.family = family
        self.metric = metric
        self.links = links
    }

    /// Returns `nil` for a route to a single network, a route that rejects packets, or a message that is too short or
    /// names no link.
    package init?(_ payload: NetlinkBytes) {
        guard let family = payload.load(UInt8.self, at: 0), payload.load(UInt8.self, at: 1) == 0,
            let table = payload.load(UInt8.self, at: 4), let type = payload.load(UInt8.self, at: 7),
            let flags = payload.load(UInt32.self, at: 8)
        else { return nil }
        // RTN_UNICAST; not RT_TABLE_LOCAL; not RTM_F_CLONED, RTNH_F_DEAD or RTNH_F_LINKDOWN
        guard family == 2 || family == 10, type == 1, table != 255, flags & 0x211 == 0 else { return nil }
        let attributes = payload.dropping(12)
        self.family = family
        // RTA_PRIORITY
        metric = attributes.attribute(6)?.load(UInt32.self, at: 0) ?? 0
        // RTA_OIF, or several hops in RTA_MULTIPATH
        if let link = attributes.attribute(4)?.load(Int32.self, at: 0) {
            links = [link]
        } else {
            links = attributes.attribute(9).map(Self.links(ofHops:)) ?? []
        }
        if links.isEmpty { return nil }
    }

    /// The links of `struct rtnexthop` (length, flags, weight, link), without dead ones.
    private static func links(ofHops hops: NetlinkBytes) -> [Int32] {
        hops.records(lengthIn: UInt16.self, header: 8).compactMap { hop in
            guard let flags = hop.load(UInt8.self, at: 2), flags & 0x11 == 0 else { return nil }
            return hop.load(Int32.self, at: 4)
        }
    }
}
#endif

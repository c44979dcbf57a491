// SPDX-License-Identifier: MIT
#if os(Linux)

/// A default route (`struct rtmsg`): the way to everywhere that has no route of its own.
package struct NetlinkRoute: Sendable, Hashable {
    /// `AF_INET` is 2, `AF_INET6` is 10.
    package var family: UInt8
    /// The lower, the better.
    package var metric: UInt32
    /// The links that it leads over, of which any will do.
    package var links: [Int32]

    package init(family: UInt8, metric: UInt32 = 0, links: [Int32]) {
        self.family = family
        self.metric = metric
        self.links = links
    }

    /// `nil` for a route to one network, one that refuses what is sent there, and one that is too short or leads nowhere.
    package init?(_ payload: NetlinkBytes) {
        guard let family = payload.load(UInt8.self, at: 0), payload.load(UInt8.self, at: 1) == 0,
            let table = payload.load(UInt8.self, at: 4), let type = payload.load(UInt8.self, at: 7),
            let flags = payload.load(UInt32.self, at: 8)
        else { return nil }
        // RTN_UNICAST; not RT_TABLE_LOCAL; not RTM_F_CLONED, RTNH_F_DEAD or RTNH_F_LINKDOWN
        guard family == 2 || family == 10, type == 1, table != 255, flags & 0x211 == 0 else { return nil }
        let attributes = payload.dropping(12).attributes()
        self.family = family
        // RTA_PRIORITY
        metric = attributes[6]?.load(UInt32.self, at: 0) ?? 0
        // RTA_OIF, or several hops in RTA_MULTIPATH
        if let link = attributes[4]?.load(Int32.self, at: 0) {
            links = [link]
        } else {
            links = attributes[9].map(Self.links(ofHops:)) ?? []
        }
        if links.isEmpty { return nil }
    }

    /// `struct rtnexthop`: length, flags, weight, link; those that are dead are left out.
    private static func links(ofHops hops: NetlinkBytes) -> [Int32] {
        hops.records(lengthIn: UInt16.self, header: 8).compactMap { hop in
            guard let flags = hop.load(UInt8.self, at: 2), flags & 0x11 == 0 else { return nil }
            return hop.load(Int32.self, at: 4)
        }
    }
}
#endif

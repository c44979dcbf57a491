// SPDX-License-Identifier: MIT
#if os(Linux)

/// What the kernel has at one time: links, addresses and default routes.
package struct NetlinkTable: Sendable, Hashable {
    package var links: [NetlinkLink] = []
    package var addresses: [NetlinkAddress] = []
    package var routes: [NetlinkRoute] = []

    package init() {}

    /// Adds what a message of a dump says.
    package mutating func add(_ content: NetlinkMessage.Content) {
        switch content {
        case .link(let link): links.append(link)
        case .address(let address): addresses.append(address)
        case .defaultRoute(let route): routes.append(route)
        case .removal, .done, .failure, .overrun, .other: break
        }
    }

    /// The link that leads out, if there is one.
    ///
    /// - Parameter requirement: What a way out is.
    package func wayOut(_ requirement: NetlinkConnectivity.Requirement) -> NetlinkLink? {
        let usable = Dictionary(links.filter(\.isUsable).map { ($0.index, $0) }) { $1 }
        let global = addresses.filter(\.isGlobal)
        switch requirement {
        case .address:
            return global.compactMap { usable[$0.link] }.min { $0.index < $1.index }
        case .defaultRoute:
            // The loopback may hold the address that others know the machine by.
            let answering = Set(usable.keys).union(links.filter { $0.isUp && $0.isLoopback }.map(\.index))
            let families = Set(global.filter { answering.contains($0.link) }.map(\.family))
            return routes.filter { families.contains($0.family) }
                .sorted { $0.metric < $1.metric }
                .lazy.flatMap(\.links).compactMap { usable[$0] }.first
        }
    }
}
#endif

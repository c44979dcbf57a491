// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Netlink table", .throttled)
struct NetlinkTableTests {
    private static let loopback = NetlinkLink(index: 1, name: "lo", flags: 0x49, hardware: 772)
    private static let cable = NetlinkLink(index: 2, name: "eth0", flags: 0x1043)
    private static let radio = NetlinkLink(index: 3, name: "wlan0", flags: 0x1043)

    private func table(
        _ links: [NetlinkLink] = [loopback, cable, radio],
        addresses: [NetlinkAddress],
        routes: [NetlinkRoute]
    ) -> NetlinkTable {
        var table = NetlinkTable()
        table.links = links
        table.addresses = addresses
        table.routes = routes
        return table
    }

    private func address(_ link: Int32, _ family: UInt8 = 2, isGlobal: Bool = true) -> NetlinkAddress {
        NetlinkAddress(family: family, link: link, isGlobal: isGlobal)
    }

    @Test("A default route over a usable link is a way out, if there is an address of its family", arguments: [2, 10])
    func outgoingLink(family: UInt8) {
        let routes = [NetlinkRoute(family: family, links: [2])]
        #expect(table(addresses: [address(2, family)], routes: routes).outgoingLink(.defaultRoute) == Self.cable)
        #expect(table(addresses: [address(1, family)], routes: routes).outgoingLink(.defaultRoute) == Self.cable)
        #expect(table(addresses: [address(2, 12 - family)], routes: routes).outgoingLink(.defaultRoute) == nil)
        #expect(
            table(addresses: [address(2, family, isGlobal: false)], routes: routes).outgoingLink(.defaultRoute) == nil
        )
        #expect(table(addresses: [], routes: routes).outgoingLink(.defaultRoute) == nil)
        #expect(table(addresses: [address(2, family)], routes: []).outgoingLink(.defaultRoute) == nil)
    }

    @Test("A link that is down, not running, gone or the loopback is no way out", arguments: [0x1, 0x40, 0x49, nil])
    func unusable(flags: UInt32?) {
        let links = flags.map { [NetlinkLink(index: 2, name: "eth0", flags: $0)] } ?? []
        let table = table(links, addresses: [address(2)], routes: [NetlinkRoute(family: 2, links: [2])])
        #expect(table.outgoingLink(.defaultRoute) == nil)
        #expect(table.outgoingLink(.address) == nil)
    }

    @Test("An address on a link that is down does not count")
    func addressOfDeadLink() {
        let links = [Self.cable, NetlinkLink(index: 3, name: "wlan0", flags: 0)]
        let routes = [NetlinkRoute(family: 2, links: [2])]
        #expect(table(links, addresses: [address(3)], routes: routes).outgoingLink(.defaultRoute) == nil)
    }

    @Test("The route of the lowest metric that leads over a usable link is the way out")
    func metric() {
        let routes = [
            NetlinkRoute(family: 2, metric: 600, links: [3]), NetlinkRoute(family: 2, metric: 100, links: [2]),
        ]
        #expect(table(addresses: [address(2)], routes: routes).outgoingLink(.defaultRoute) == Self.cable)
        let links = [NetlinkLink(index: 2, name: "eth0", flags: 0x1), Self.radio]
        #expect(table(links, addresses: [address(3)], routes: routes).outgoingLink(.defaultRoute) == Self.radio)
    }

    @Test("Of several hops one that is usable is enough")
    func hops() {
        let table = table(addresses: [address(2)], routes: [NetlinkRoute(family: 2, links: [1, 9, 3])])
        #expect(table.outgoingLink(.defaultRoute) == Self.radio)
    }

    @Test("In a closed network an address on a usable link is enough")
    func addressOnly() {
        #expect(table(addresses: [address(3), address(2)], routes: []).outgoingLink(.address) == Self.cable)
        #expect(table(addresses: [address(1)], routes: []).outgoingLink(.address) == nil)
        #expect(table(addresses: [address(2, isGlobal: false)], routes: []).outgoingLink(.address) == nil)
    }
}
#endif

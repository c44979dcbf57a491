// SPDX-License-Identifier: MIT
#if os(Linux)
import PluginsTestSupport
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Netlink messages", .throttled)
struct NetlinkMessageTests {
    typealias Content = NetlinkMessage.Content

    private static let overLink3 = NetlinkBuilder.attribute(4, NetlinkBuilder.number(Int32(3)))

    private func content(_ type: UInt16, _ payload: [UInt8]) -> Content? {
        let messages = NetlinkMessage.all(in: NetlinkBuilder.message(type, payload))
        return messages.count == 1 ? messages.first?.content : nil
    }

    @Test("A link's number, name, flags, hardware and kind are read")
    func link() {
        let expected = NetlinkLink(index: 3, name: "eth0", flags: 0x1043)
        #expect(content(16, NetlinkBuilder.link(3, "eth0", flags: 0x1043)) == .link(expected))
        let tunnel = NetlinkLink(index: 9, name: "wg0", flags: 0x10D1, hardware: 65534, kind: "wireguard")
        let payload = NetlinkBuilder.link(9, "wg0", flags: 0x10D1, hardware: 65534, kind: "wireguard")
        #expect(content(16, payload) == .link(tunnel))
    }

    @Test(
        "A link is usable when it is up, running and not the loopback",
        arguments: [(0x41, true), (0x1043, true), (0x1, false), (0x40, false), (0x49, false), (0x0, false)]
    )
    func usableLink(flags: UInt32, isUsable: Bool) {
        #expect(NetlinkLink(index: 1, name: "a", flags: flags).isUsable == isUsable)
    }

    @Test(
        "An address is global by its scope, unless it is still being tried",
        arguments: [
            (NetlinkBuilder.address(2, link: 3), true), (NetlinkBuilder.address(2, link: 3, scope: 200), true),
            (NetlinkBuilder.address(2, link: 3, scope: 253), false),
            (NetlinkBuilder.address(2, link: 3, scope: 254), false),
            (NetlinkBuilder.address(2, link: 3, flags: 0x40), false),
            (NetlinkBuilder.address(2, link: 3, flags: 0x08), false),
            (NetlinkBuilder.address(2, link: 3, flags: 0x40, long: 0x200), true),
            (NetlinkBuilder.address(2, link: 3, flags: 0, long: 0x40), false),
        ]
    )
    func address(payload: [UInt8], isGlobal: Bool) {
        #expect(content(20, payload) == .address(NetlinkAddress(family: 2, link: 3, isGlobal: isGlobal)))
    }

    @Test("A default route's family, metric and links are read")
    func defaultRoute() {
        let metric = NetlinkBuilder.attribute(6, NetlinkBuilder.number(UInt32(600)))
        let one = NetlinkBuilder.route(10, attributes: Self.overLink3 + metric)
        #expect(content(24, one) == .defaultRoute(NetlinkRoute(family: 10, metric: 600, links: [3])))
        let hops = NetlinkBuilder.hop(4) + NetlinkBuilder.hop(5, flags: 1) + NetlinkBuilder.hop(6, flags: 16)
        let several = NetlinkBuilder.route(attributes: NetlinkBuilder.attribute(9, hops + NetlinkBuilder.hop(7)))
        #expect(content(24, several) == .defaultRoute(NetlinkRoute(family: 2, links: [4, 7])))
    }

    @Test(
        "A route that does not lead everywhere does not count",
        arguments: [
            NetlinkBuilder.route(prefix: 24, attributes: overLink3), NetlinkBuilder.route(attributes: []),
            NetlinkBuilder.route(7, attributes: overLink3), NetlinkBuilder.route(table: 255, attributes: overLink3),
            NetlinkBuilder.route(type: 7, attributes: overLink3),
            NetlinkBuilder.route(flags: 0x1, attributes: overLink3),
            NetlinkBuilder.route(flags: 0x10, attributes: overLink3),
            NetlinkBuilder.route(flags: 0x200, attributes: overLink3),
            NetlinkBuilder.route(attributes: NetlinkBuilder.attribute(9, NetlinkBuilder.hop(4, flags: 1))),
        ]
    )
    func otherRoutes(payload: [UInt8]) {
        #expect(content(24, payload) == .other)
        #expect(content(25, payload) == .other)
    }

    @Test("What is gone, the end of a dump, refusals and losses are told apart")
    func others() {
        #expect(content(17, NetlinkBuilder.link(3, "eth0", flags: 0)) == .removal)
        #expect(content(21, NetlinkBuilder.address(2, link: 3)) == .removal)
        #expect(content(25, NetlinkBuilder.route(attributes: Self.overLink3)) == .removal)
        #expect(content(3, NetlinkBuilder.number(Int32(0))) == .done(0))
        #expect(content(3, NetlinkBuilder.number(Int32(-95))) == .done(-95))
        #expect(content(3, []) == .done(0))
        #expect(content(2, NetlinkBuilder.number(Int32(-1))) == .failure(-1))
        #expect(content(4, []) == .overrun)
        #expect(content(1, []) == .other)
        #expect(content(28, [1, 2, 3, 4]) == .other)
    }

    @Test("Several messages in one read are all read, with their numbers and flags")
    func several() {
        let bytes =
            NetlinkBuilder.message(16, flags: 2, sequence: 1, NetlinkBuilder.link(3, "eth0x", flags: 0x41))
            + NetlinkBuilder.message(20, flags: 0x12, sequence: 2, NetlinkBuilder.address(2, link: 3))
            + NetlinkBuilder.message(3, flags: 2, sequence: 3, [])
        let messages = NetlinkMessage.all(in: bytes)
        #expect(messages.map(\.sequence) == [1, 2, 3])
        #expect(messages.map(\.isInterrupted) == [false, true, false])
        #expect(messages.last?.content == .done(0))
    }

    @Test("What is cut off is left out, at every length")
    func cutOff() {
        let first = NetlinkBuilder.message(20, NetlinkBuilder.address(2, link: 3))
        let second = NetlinkBuilder.message(16, NetlinkBuilder.link(3, "eth0", flags: 0x41, kind: "veth"))
        for length in 0..<(first.count + second.count) {
            let count = NetlinkMessage.all(in: (first + second).prefix(length)).count
            #expect(count == (length < first.count ? 0 : 1))
        }
        // A payload that ends within its fixed part says nothing.
        for length in 0..<16 {
            #expect(content(16, [UInt8](repeating: 1, count: length)) == .other)
        }
        for length in 0..<8 {
            #expect(content(20, [UInt8](repeating: 1, count: length)) == .other)
        }
    }

    @Test("Lengths that cannot be end the reading", arguments: [0, 1, 15, 17, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
    func badLengths(_ length: UInt32) {
        let bytes = NetlinkBuilder.number(length) + [UInt8](repeating: 0, count: 12)
        #expect(NetlinkMessage.all(in: bytes).isEmpty)
    }

    @Test("No bytes make it trap: 150,000 random, mutated and cut messages", arguments: 0..<5)
    func fuzz(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let hops = NetlinkBuilder.attribute(9, NetlinkBuilder.hop(4) + NetlinkBuilder.hop(5))
        let samples = [
            NetlinkBuilder.message(16, NetlinkBuilder.link(3, "eth0", flags: 0x41, kind: "veth")),
            NetlinkBuilder.message(20, NetlinkBuilder.address(10, link: 3, long: 0x80)),
            NetlinkBuilder.message(24, NetlinkBuilder.route(attributes: Self.overLink3)),
            NetlinkBuilder.message(24, NetlinkBuilder.route(attributes: hops)),
            NetlinkBuilder.message(3, NetlinkBuilder.number(Int32(0))),
        ]
        var table = NetlinkTable()
        for round in 0..<30_000 {
            let bytes =
                round % 3 == 0
                ? (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                : mutated(samples.shuffled(using: &generator).prefix(3).flatMap { $0 }, by: &generator)
            let messages = NetlinkMessage.all(in: bytes)
            #expect(messages.count * 16 <= bytes.count)
            for message in messages { table.add(message.content) }
            if round % 50 == 0 {
                let usable = table.links.filter(\.isUsable)
                for requirement in [NetlinkConnectivity.Requirement.defaultRoute, .address] {
                    if let out = table.outgoingLink(requirement) { #expect(usable.contains(out)) }
                }
                table = NetlinkTable()
            }
        }
    }

    private func mutated(_ bytes: [UInt8], by generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] =
                [0, 1, 0x7F, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                .randomElement(using: &generator) ?? 0
        }
        return Bool.random(using: &generator)
            ? bytes : Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
    }
}
#endif

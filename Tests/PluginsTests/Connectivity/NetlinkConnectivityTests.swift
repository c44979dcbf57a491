// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKitPlugins
import TestSupport
import Testing

@Suite(
    "Connectivity of a network namespace",
    .throttled,
    .enabled(Comment(rawValue: NetworkNamespace.skipReason)) { await NetworkNamespace.canBeMade },
    .serialized,
    .timeLimit(.minutes(3))
)
struct NetlinkConnectivityTests {
    private static let cable = Reachability.Status.online(.ethernet, isExpensive: false)
    /// Those that this process sees in `/sys` are of another namespace.
    private static let devices = NetworkDevices(folder: "/nowhere")

    /// A reachability that looks at the namespace.
    private func reachability(
        in namespace: NetworkNamespace,
        _ requirement: NetlinkConnectivity.Requirement = .defaultRoute
    ) async throws -> Reachability {
        let sockets = try await namespace.sockets()
        let source = NetlinkConnectivity(requirement: requirement, devices: Self.devices, open: { sockets })
        let reachability = Reachability(source: source)
        reachability.start()
        return reachability
    }

    /// A cable between two ends, both in the namespace, the first of them with an address.
    private func plugIn(_ namespace: NetworkNamespace) async throws {
        try await namespace.ip("link add tkv0 type veth peer name tkv1")
        try await namespace.ip("addr add 192.0.2.2/24 dev tkv0")
        try await namespace.ip("link set tkv1 up")
        try await namespace.ip("link set tkv0 up")
    }

    @Test("Without a link it is offline from the start, and online from the start with one")
    func atTheStart() async throws {
        try await NetworkNamespace.with { namespace in
            #expect(try await reachability(in: namespace).status == .offline)
            #expect(try await reachability(in: namespace, .address).status == .offline)
            try await plugIn(namespace)
            try await namespace.ip("route add default via 192.0.2.1")
            let first = try await reachability(in: namespace)
            // The other end of the cable may take a moment to be seen.
            #expect(await first.statuses.first { $0 != .offline } == Self.cable)
            #expect(try await reachability(in: namespace).status == Self.cable)
        }
    }

    @Test("It follows the default route, the cable and the link, over IPv4")
    func follows() async throws {
        try await NetworkNamespace.with { namespace in
            let reachability = try await reachability(in: namespace)
            var statuses = reachability.statuses.makeAsyncIterator()
            #expect(await statuses.next() == .offline)
            try await plugIn(namespace)
            try await namespace.ip("route add default via 192.0.2.1")
            #expect(await statuses.next() == Self.cable)
            try await namespace.ip("route del default")
            #expect(await statuses.next() == .offline)
            try await namespace.ip("route add default via 192.0.2.1")
            #expect(await statuses.next() == Self.cable)
            // The other end is gone, the route stays.
            try await namespace.ip("link set tkv1 down")
            #expect(await statuses.next() == .offline)
            try await namespace.ip("link set tkv1 up")
            #expect(await statuses.next() == Self.cable)
            // The kernel takes the route away with the link, and does not say so.
            try await namespace.ip("link set tkv0 down")
            #expect(await statuses.next() == .offline)
            try await namespace.ip("link set tkv0 up")
            try await namespace.ip("route add default via 192.0.2.1")
            #expect(await statuses.next() == Self.cable)
            try await namespace.ip("addr del 192.0.2.2/24 dev tkv0")
            #expect(await statuses.next() == .offline)
            #expect(reachability.status == .offline)
            reachability.stop()
        }
    }

    @Test("It follows the default route over IPv6, which needs an address that holds beyond the link")
    func followsIPv6() async throws {
        try await NetworkNamespace.with { namespace in
            let reachability = try await reachability(in: namespace)
            var statuses = reachability.statuses.makeAsyncIterator()
            #expect(await statuses.next() == .offline)
            try await plugIn(namespace)
            try await namespace.ip("-6 route add default via fe80::1 dev tkv0")
            try await namespace.ip("-6 addr add 2001:db8::2/64 dev tkv0 nodad")
            #expect(await statuses.next() == Self.cable)
            try await namespace.ip("-6 addr del 2001:db8::2/64 dev tkv0")
            #expect(await statuses.next() == .offline)
            try await namespace.ip("-6 addr add 2001:db8::3/64 dev tkv0 nodad")
            #expect(await statuses.next() == Self.cable)
            try await namespace.ip("link del tkv0")
            #expect(await statuses.next() == .offline)
        }
    }

    @Test("In a closed network an address is enough, where that is asked for")
    func closedNetwork() async throws {
        try await NetworkNamespace.with { namespace in
            let (open, closed) = (
                try await reachability(in: namespace), try await reachability(in: namespace, .address)
            )
            var statuses = closed.statuses.makeAsyncIterator()
            #expect(await statuses.next() == .offline)
            try await plugIn(namespace)
            #expect(await statuses.next() == Self.cable)
            #expect(open.status == .offline)
            try await namespace.ip("link set tkv0 down")
            #expect(await statuses.next() == .offline)
        }
    }

    @Test("A flood of changes, more than the socket can hold, ends in the right status")
    func flood() async throws {
        try await NetworkNamespace.with { namespace in
            let reachability = try await reachability(in: namespace)
            var statuses = reachability.statuses.makeAsyncIterator()
            #expect(await statuses.next() == .offline)
            try await plugIn(namespace)
            let folder = try TemporaryFolder()
            let lines = (0..<4_000).map { "addr add 198.18.\($0 / 250).\($0 % 250 + 1)/32 dev tkv0\n" }
            let file = try folder.file("flood", Data((lines.joined() + "route add default via 192.0.2.1\n").utf8))
            try await namespace.ip("-batch \(file.path(percentEncoded: false))")
            #expect(await statuses.next() == Self.cable)
            try await namespace.ip("link del tkv0")
            #expect(await statuses.next() == .offline)
        }
    }

    @Test("A stop closes what a start has opened, and so does letting go of it")
    func closes() async throws {
        try await NetworkNamespace.with { near in
            let reachability = try await reachability(in: near)
            var statuses = reachability.statuses.makeAsyncIterator()
            #expect(await statuses.next() == .offline)
            try await NetworkNamespace.with { far in
                try await near.ip("link add tkv0 type veth peer name tkv1 netns \(far.name)")
                try await near.ip("addr add 192.0.2.2/24 dev tkv0")
                try await far.ip("link set tkv1 up")
                try await near.ip("link set tkv0 up")
                try await near.ip("route add default via 192.0.2.1")
                #expect(await statuses.next() == Self.cable)
                for index in 0..<50 {
                    let other = try await self.reachability(in: far)
                    if index.isMultiple(of: 2) { other.stop() }
                }
            }
            // The far namespace, and with it its end of the cable, goes when no socket belongs to it any more.
            #expect(await statuses.next() == .offline)
        }
    }
}
#endif

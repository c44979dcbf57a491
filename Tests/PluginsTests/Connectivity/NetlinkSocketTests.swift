// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import TargetKitPlugins

@Suite("Netlink socket", .throttled)
struct NetlinkSocketTests {
    @Test("What an earlier dump has left behind is not taken for an answer", arguments: [22, 26] as [UInt16])
    func leftovers(_ type: UInt16) throws {
        let fresh = try #require(NetlinkSocket(groups: 0))
        let expected = try #require(fresh.table())
        #expect(expected.links.contains { $0.isLoopback })
        let used = try #require(NetlinkSocket(groups: 0))
        for number in 1...4 as ClosedRange<UInt32> {
            // Asked, and not read to its end.
            #expect(used.ask(type, number: number))
            if number == 2 { _ = used.read() }
            #expect(used.table()?.links == expected.links)
        }
    }

    @Test("One socket can be asked any number of times")
    func again() throws {
        let socket = try #require(NetlinkSocket(groups: 0))
        let first = try #require(socket.table())
        for _ in 0..<20 { #expect(socket.table()?.links == first.links) }
    }
}
#endif

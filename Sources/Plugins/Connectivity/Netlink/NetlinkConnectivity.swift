// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit

/// The statuses of Linux: its links, addresses and default routes, by rtnetlink (RFC 3549).
///
/// The device is online when a default route of IPv4 or IPv6 leads over a link that is up, running and not the loopback, and
/// the device has an address of that family that holds beyond its own link. The link with the route of the lowest metric
/// says what kind it is: by `/sys/class/net`, and by what the kernel calls the device where that has nothing. A mobile network
/// is expensive, nothing else is.
///
/// A thread of its own waits for the kernel to say that something has changed, and then reads all of it anew: the kernel does
/// not say of every route that it is gone when its link goes down, and messages may be lost. What is watched is the network
/// namespace of the thread that starts it.
package struct NetlinkConnectivity: ConnectivitySource {
    /// What counts as a way to the network.
    package enum Requirement: Sendable, Hashable {
        /// A default route, and an address of its family: what leads to the internet.
        case defaultRoute
        /// An address is enough: for a closed network that has no way out, in a machine hall for one.
        case address
    }

    private let requirement: Requirement
    private let devices: NetworkDevices

    /// A source of that kind.
    ///
    /// - Parameter requirement: What counts as a way to the network; default: a default route.
    package init(requirement: Requirement = .defaultRoute) {
        self.init(requirement: requirement, devices: NetworkDevices())
    }

    /// The same, with the kind of the links from another place.
    package init(requirement: Requirement = .defaultRoute, devices: NetworkDevices) {
        self.requirement = requirement
        self.devices = devices
    }

    /// Begins to report: the present status before this returns, the changes on a thread of its own.
    package func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        // The changes first, so that none falls between the dump and them.
        guard let changes = NetlinkSocket(groups: NetlinkSocket.allGroups), let dumps = NetlinkSocket(groups: 0),
            let (alarm, bell) = NetlinkDescriptor.pair()
        else {
            report(.unknown)
            return {}
        }
        report(status(by: dumps))
        let thread = Thread {
            while Self.waitForChange(of: changes, until: alarm) { report(status(by: dumps)) }
            // Ignored after a stop; otherwise the socket is of no more use, and what was known is out of date.
            report(.unknown)
        }
        thread.name = "TargetKit.netlink"
        thread.start()
        // The thread ends when the other end is closed, also when this closure is let go of.
        let held = Locked<NetlinkDescriptor?>(bell)
        return { held.withLock { $0 = nil } }
    }

    private func status(by socket: NetlinkSocket) -> Reachability.Status {
        guard let table = socket.table() else { return .unknown }
        guard let link = table.outgoingLink(requirement) else { return .offline }
        let kind = devices.kind(of: link)
        return .online(kind, isExpensive: kind == .cellular)
    }

    /// Returns `true` when something may have changed; `false` when it is to end.
    private static func waitForChange(of socket: NetlinkSocket, until alarm: NetlinkDescriptor) -> Bool {
        while true {
            var descriptors = [
                pollfd(fd: socket.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: alarm.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, -1) >= 0 else {
                if errno == EINTR { continue }
                return false
            }
            if descriptors[1].revents != 0 { return false }
            switch allThatWaits(in: socket) {
            case .some(true): return true
            case .some(false): continue
            case .none: return false
            }
        }
    }

    /// Reads what waits. Returns whether something of it counts; `nil` when the socket is of no more use.
    private static func allThatWaits(in socket: NetlinkSocket) -> Bool? {
        var counts = false
        while true {
            switch socket.read() {
            case .messages(let messages): counts = counts || messages.contains { $0.content != .other }
            case .lost: counts = true
            case .nothing: return counts
            case .broken: return nil
            }
        }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit

/// The statuses on Linux, from its links, addresses and default routes, by rtnetlink (RFC 3549).
///
/// The device is online when a default route of IPv4 or IPv6 uses a link that is up, running and not the loopback, and
/// the device has an address of that family with more than link scope. The kind is that of the link whose route has the
/// lowest metric: by `/sys/class/net`, or else by the kernel's description of the device. Only mobile networks are
/// expensive.
///
/// A thread of its own waits for changes, and then reads the whole table again: when a link goes down, the kernel
/// doesn't report each route that is removed with it, and messages may be lost.
package struct NetlinkConnectivity: ConnectivitySource {
    /// What makes the device online.
    package enum Requirement: Sendable, Hashable {
        /// A default route, which leads to the internet, and an address of its family.
        case defaultRoute
        /// An address is enough, for a closed network without a default route.
        case address
    }

    /// The sockets of a source: one for the changes, one for the tables.
    package struct Sockets: Sendable {
        let changes: NetlinkSocket
        let tables: NetlinkSocket

        /// Opens both in the network namespace of this thread, to which they belong from then on; `nil` if the system
        /// refuses.
        package init?() {
            // Opened before the first dump, so that no change is missed.
            guard let changes = NetlinkSocket(groups: NetlinkSocket.allGroups), let tables = NetlinkSocket(groups: 0)
            else { return nil }
            self.changes = changes
            self.tables = tables
        }
    }

    private let requirement: Requirement
    private let devices: NetworkDevices
    private let open: @Sendable () -> Sockets?

    /// Creates a source of that kind.
    ///
    /// - Parameter requirement: What makes the device online; default: a default route.
    package init(requirement: Requirement = .defaultRoute) {
        self.init(requirement: requirement, devices: NetworkDevices(), open: { Sockets() })
    }

    /// Creates a source that reads the kinds of the links from another folder, and gets its sockets from the closure.
    package init(
        requirement: Requirement = .defaultRoute,
        devices: NetworkDevices,
        open: @escaping @Sendable () -> Sockets?
    ) {
        self.requirement = requirement
        self.devices = devices
        self.open = open
    }

    /// Starts to report: the current status before it returns, the changes on a thread of its own.
    package func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        guard let sockets = open(), let (stopped, stop) = NetlinkDescriptor.pair() else {
            report(.unknown)
            return {}
        }
        report(status(by: sockets.tables))
        let thread = Thread {
            while Self.waitForChange(of: sockets.changes, until: stopped) { report(status(by: sockets.tables)) }
            // Ignored after a stop; otherwise the socket has failed, and the last status may be out of date.
            report(.unknown)
        }
        thread.name = "TargetKit.netlink"
        thread.start()
        // The thread ends when this descriptor is closed, also because the closure is released.
        let descriptor = Locked<NetlinkDescriptor?>(stop)
        return { descriptor.withLock { $0 = nil } }
    }

    private func status(by socket: NetlinkSocket) -> Reachability.Status {
        guard let table = socket.table() else { return .unknown }
        guard let link = table.outgoingLink(requirement) else { return .offline }
        let kind = devices.kind(of: link)
        return .online(kind, isExpensive: kind == .cellular)
    }

    /// Waits; returns `true` when the table may have changed, `false` when the thread must end.
    private static func waitForChange(of socket: NetlinkSocket, until stopped: NetlinkDescriptor) -> Bool {
        while true {
            var descriptors = [
                pollfd(fd: socket.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopped.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, -1) >= 0 else {
                if errno == EINTR { continue }
                return false
            }
            if descriptors[1].revents != 0 { return false }
            switch readChanges(from: socket) {
            case .some(true): return true
            case .some(false): continue
            case .none: return false
            }
        }
    }

    /// Reads all pending messages. Returns whether one of them matters; `nil` if the socket can no longer be used.
    private static func readChanges(from socket: NetlinkSocket) -> Bool? {
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

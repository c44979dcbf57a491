// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit

/// The statuses on Linux, determined from its links, addresses and default routes with rtnetlink (RFC 3549).
///
/// The device is online if an IPv4 or IPv6 default route uses a link that is up, running and not the loopback, and the
/// device has an address of that family with more than link scope. The kind is determined from the link with the lowest
/// route metric, using `/sys/class/net` or else the kernel's description of the device. Only mobile networks are
/// expensive.
///
/// A separate thread waits for changes, and then reads the whole table again, because the kernel doesn't report the
/// removed routes of a link that goes down, and messages may be lost.
package struct NetlinkConnectivity: ConnectivitySource {
    /// The requirement for the device to be online.
    package enum Requirement: Sendable, Hashable {
        /// A default route, which leads to the internet, and an address of its family.
        case defaultRoute
        /// An address, for a closed network without a default route.
        case address
    }

    /// The sockets of a source: one for the changes, one for the tables.
    package struct Sockets: Sendable {
        let changes: NetlinkSocket
        let tables: NetlinkSocket

        /// Opens both sockets in the network namespace of this thread; returns `nil` on failure.
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

    /// Creates a source.
    ///
    /// - Parameter requirement: The requirement for the device to be online; default: a default route.
    package init(requirement: Requirement = .defaultRoute) {
        self.init(requirement: requirement, devices: NetworkDevices(), open: { Sockets() })
    }

    /// Creates a source that reads link kinds from another folder, and whose sockets a closure creates.
    package init(
        requirement: Requirement = .defaultRoute,
        devices: NetworkDevices,
        open: @escaping @Sendable () -> Sockets?
    ) {
        self.requirement = requirement
        self.devices = devices
        self.open = open
    }

    /// Reports the current status before it returns, and changes on a separate thread.
    package func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        guard let sockets = open(), let (stopped, stop) = NetlinkDescriptor.pair() else {
            report(.unknown)
            return {}
        }
        report(status(by: sockets.tables))
        let thread = Thread {
            while Self.waitForChange(of: sockets.changes, until: stopped) { report(status(by: sockets.tables)) }
            // Ignored after a stop. Otherwise, the socket failed, and the last status may be outdated.
            report(.unknown)
        }
        thread.name = "TargetKit.netlink"
        thread.start()
        // The thread ends when this descriptor is closed, including when the closure is released.
        let descriptor = Locked<NetlinkDescriptor?>(stop)
        return { descriptor.withLock { $0 = nil } }
    }

    private func status(by socket: NetlinkSocket) -> Reachability.Status {
        guard let table = socket.table() else { return .unknown }
        guard let link = table.outgoingLink(requirement) else { return .offline }
        let kind = devices.kind(of: link)
        return .online(kind, isExpensive: kind == .cellular)
    }

    /// Waits, and returns `true` when the table may have changed, or `false` when the thread must end.
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

    /// Reads all pending messages, and returns whether any is relevant; `nil` if the socket can no longer be used.
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

// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit

/// A socket to the kernel's tables of links, addresses and routes (`NETLINK_ROUTE`, RFC 3549).
///
/// It permanently belongs to the network namespace of the thread that opens it.
struct NetlinkSocket: Sendable {
    /// The result of reading.
    enum Reading {
        case messages([NetlinkMessage])
        /// There is nothing to read.
        case nothing
        /// Messages were lost because the socket's buffer was full.
        case lost
        /// The socket can no longer be used.
        case broken
    }

    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE
    static let allGroups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    /// RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE
    private static let dumps: [UInt16] = [18, 22, 26]
    /// The kernel's messages are up to 32 KiB.
    private static let bufferSize = 1 << 16

    let descriptor: NetlinkDescriptor
    /// The number of the last request. Each request of a socket has a separate number, so that responses can be
    /// matched.
    private let number = Locked<UInt32>(0)

    /// Creates a socket that receives the changes of multicast groups; returns `nil` on failure.
    init?(groups: UInt32) {
        let type = SocketType.raw | SocketType.closedOnExec | SocketType.nonBlocking
        guard let descriptor = NetlinkDescriptor(socket(AF_NETLINK, type, 0)) else { return nil }
        self.descriptor = descriptor
        // `struct sockaddr_nl`: family, padding, port (the kernel's choice), groups.
        var address = [UInt32](repeating: 0, count: 3)
        address.withUnsafeMutableBytes { $0.storeBytes(of: sa_family_t(AF_NETLINK), as: sa_family_t.self) }
        address[2] = groups
        let status = address.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor.number, $0.baseAddress, 12) }
        }
        if status != 0 { return nil }
    }

    /// Reads the kernel's current table; returns `nil` on failure. The kernel responds synchronously, so this doesn't
    /// wait.
    func table() -> NetlinkTable? {
        // A change that interrupts the dump is also received as a change, so a few attempts are enough.
        var newest: NetlinkTable?
        for _ in 0..<4 {
            guard let (table, isWhole) = dump() else { continue }
            newest = table
            if isWhole { break }
        }
        return newest
    }

    private func dump() -> (table: NetlinkTable, isWhole: Bool)? {
        var table = NetlinkTable()
        var isWhole = true
        // The kernel accepts no other request until the rest of a failed dump is read.
        guard drain() else { return nil }
        for type in Self.dumps {
            let number = number.withLock { number in
                number &+= 1
                return number
            }
            guard ask(type, number: number) else { return nil }
            var isDone = false
            while !isDone {
                guard case .messages(let messages) = read() else { return nil }
                for message in messages where message.sequence == number {
                    if message.isInterrupted { isWhole = false }
                    switch message.content {
                    case .failure, .overrun: return nil
                    case .done(let status) where status < 0: return nil
                    case .done: isDone = true
                    default: table.add(message.content)
                    }
                }
            }
        }
        return (table, isWhole)
    }

    /// Reads all pending messages, and returns `false` if the socket can no longer be used.
    private func drain() -> Bool {
        while true {
            switch read() {
            case .messages, .lost: continue
            case .nothing: return true
            case .broken: return false
            }
        }
    }

    /// Sends a request with `struct nlmsghdr` and zeros for the largest of the three requests, which request every
    /// family.
    func ask(_ type: UInt16, number: UInt32) -> Bool {
        // NLM_F_REQUEST | NLM_F_DUMP
        let flags: UInt16 = 0x301
        var request = [UInt32](repeating: 0, count: 8)
        request[0] = 32
        request.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: type, toByteOffset: 4, as: UInt16.self)
            bytes.storeBytes(of: flags, toByteOffset: 6, as: UInt16.self)
        }
        request[2] = number
        return send(descriptor.number, request, 32, 0) == 32
    }

    /// Reads messages with a single call.
    func read() -> Reading {
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var sender = [UInt32](repeating: 0, count: 4)
        var senderSize = socklen_t(16)
        // With the flag, the length includes the whole message, even if it doesn't fit.
        let flags = Int32(MSG_TRUNC)
        let count = sender.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                recvfrom(descriptor.number, &buffer, buffer.count, flags, $0.baseAddress, &senderSize)
            }
        }
        guard count >= 0 else {
            switch errno {
            case EAGAIN, EWOULDBLOCK: return .nothing
            case EINTR: return .messages([])
            case ENOBUFS: return .lost
            default: return .broken
            }
        }
        if count > buffer.count { return .lost }
        // Only the kernel has port 0.
        guard senderSize >= 12, sender[1] == 0 else { return .messages([]) }
        return .messages(NetlinkMessage.all(in: buffer.prefix(count)))
    }
}

/// A file descriptor that is closed when the object is released.
final class NetlinkDescriptor: Sendable {
    let number: Int32

    /// Takes ownership of a descriptor; returns `nil` for a negative one, which the system returns on failure.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Creates two connected descriptors. When one is closed, the other reads the end of its stream.
    static func pair() -> (NetlinkDescriptor, NetlinkDescriptor)? {
        var numbers: [Int32] = [-1, -1]
        let type = SocketType.stream | SocketType.closedOnExec
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0, let one = NetlinkDescriptor(numbers[0]),
            let other = NetlinkDescriptor(numbers[1])
        else { return nil }
        return (one, other)
    }
}
#endif

// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The POSIX calls of ``TestServer`` and of this package's own tests.
package enum Socket {
    #if canImport(Darwin)
    static let stream: Int32 = SOCK_STREAM
    static let sendFlags: Int32 = 0
    #elseif canImport(Glibc)
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
    static let stream = Int32(SOCK_STREAM)
    static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    /// Raises the limit of open files to the system's maximum once, because 5,000 connections in one process need
    /// 10,000.
    static let raisedFileLimit: Void = {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        #if canImport(Darwin)
        // macOS rejects "unlimited" for open files, but accepts this value.
        limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #endif
        _ = setrlimit(resource, &limit)
    }()

    /// Creates a stream socket that is closed in child processes and doesn't raise SIGPIPE.
    static func open(family: Int32) throws -> Int32 {
        let descriptor = socket(family, stream, 0)
        guard descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
        prepare(descriptor)
        return descriptor
    }

    /// Creates two stream sockets that are connected to each other, like ``open(family:)``.
    package static func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { throw SocketError(call: "socketpair", code: errno) }
        for end in ends { prepare(end) }
        return (ends[0], ends[1])
    }

    /// Configures a socket to be closed in child processes and not to raise SIGPIPE.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        set(descriptor, level: SOL_SOCKET, option: SO_NOSIGPIPE, value: 1)
        #endif
    }

    static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    static func set(_ descriptor: Int32, level: Int32, option: Int32, value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends small chunks immediately as separate segments. Has no effect on a Unix domain socket.
    static func setNoDelay(_ descriptor: Int32) {
        set(descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY, value: 1)
    }

    /// Makes the next `close` send RST instead of FIN.
    static func setResetOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    package static func shutdownWriting(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Sends the bytes that the kernel accepts. Returns -1, with `errno`, if it accepts none.
    package static func send(_ descriptor: Int32, bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
        #elseif canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
        #elseif canImport(Android)
        Android.send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
        #else
        Musl.send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
        #endif
    }

    /// Whether the last call failed because it would have blocked.
    static var wouldBlock: Bool { errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR }
}

extension Socket {
    /// Calls a closure with an address in the kernel's format.
    static func withAddress<Result>(
        _ address: TestServer.Address,
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
    ) throws -> Result {
        switch address {
        case .ipv4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return try withBytes(of: &name, body: body)
        case .ipv6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            // The loopback address is fifteen zero bytes and a one.
            withUnsafeMutableBytes(of: &name.sin6_addr) { $0[15] = 1 }
            return try withBytes(of: &name, body: body)
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let fits = withUnsafeMutableBytes(of: &name.sun_path) { field in
                guard path.utf8.count < min(field.count, 104) else { return false }
                field.copyBytes(from: path.utf8)
                return true
            }
            guard fits else { throw SocketError(call: "bind", code: ENAMETOOLONG) }
            return try withBytes(of: &name, body: body)
        }
    }

    private static func withBytes<Name, Result>(
        of name: inout Name,
        body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
    ) rethrows -> Result {
        try withUnsafePointer(to: &name) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                try body(generic, socklen_t(MemoryLayout<Name>.size))
            }
        }
    }

    static func family(of address: TestServer.Address) -> Int32 {
        switch address {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// A socket that is bound to an address, and the port that the kernel chose (0 for a Unix domain socket).
    static func bound(to address: TestServer.Address) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = try open(family: family(of: address))
        do {
            try withAddress(address, port: 0) { name, length in
                guard bind(descriptor, name, length) == 0 else { throw SocketError(call: "bind", code: errno) }
            }
            return (descriptor, try port(of: descriptor, address: address))
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func port(of descriptor: Int32, address: TestServer.Address) throws -> UInt16 {
        if case .unix = address { return 0 }
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard status == 0 else { throw SocketError(call: "getsockname", code: errno) }
        // The port has the same offset in both families.
        return UInt16(bigEndian: name.sin6_port)
    }

    /// A blocking socket that is connected to an address.
    package static func connected(to address: TestServer.Address, port: UInt16) throws -> Int32 {
        let descriptor = try open(family: family(of: address))
        do {
            try withAddress(address, port: port) { name, length in
                guard connect(descriptor, name, length) == 0 else {
                    throw SocketError(call: "connect", code: errno)
                }
            }
            setNoDelay(descriptor)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }
}

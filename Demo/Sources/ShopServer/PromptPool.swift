// SPDX-License-Identifier: MIT
import FlyingFox
import FlyingSocks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The server's pool of sockets, which turns off Nagle's algorithm (RFC 896).
///
/// FlyingFox writes the head and the body of a response one after the other. With Nagle's algorithm, the body waits
/// until the client has acknowledged the head, which it delays by 40 ms. FlyingFox has no option for it, but each socket
/// passes here while it waits; the connections inherit the option from the socket that listens.
struct PromptPool: AsyncSocketPool {
    private let pool: any AsyncSocketPool = HTTPServer.defaultPool()
    private static var noDelay: BoolSocketOption { BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY) }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        if events == .connection { try? socket.setValue(true, for: Self.noDelay) }
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}

// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A port at which every connection is refused, for as long as this value lives: it is taken, but nobody listens.
public final class ClosedPort: Sendable {
    private let descriptor: Int32

    /// The port.
    public let port: Int

    /// Takes a port of 127.0.0.1 that the kernel chooses.
    ///
    /// - Throws: ``SocketError`` when there is none.
    public init() throws {
        let (descriptor, port) = try Socket.bound(to: .ipv4)
        self.descriptor = descriptor
        self.port = Int(port)
    }

    deinit {
        close(descriptor)
    }

    /// A URL at that port.
    public var baseURL: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(fileURLWithPath: "/") }
}

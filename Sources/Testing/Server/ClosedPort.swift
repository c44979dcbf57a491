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

/// A port of 127.0.0.1, or of ::1, that refuses every connection while this object exists.
///
/// ```swift
/// let port = try ClosedPort()
/// let shop = Shop(baseURL: port.baseURL)       // its calls fail with `.cannotConnectToHost`
/// ```
package final class ClosedPort: Sendable {
    private let descriptor: Int32

    package let port: Int

    /// The URL of the port, for example `http://127.0.0.1:1234`.
    package let baseURL: URL

    /// Reserves a free port.
    ///
    /// - Throws: An error that names the failed system call.
    package init(_ address: TestServer.Address = .ipv4) throws {
        let (descriptor, port) = try Socket.bound(to: address)
        self.descriptor = descriptor
        self.port = Int(port)
        baseURL = URL(string: "http://\(address == .ipv6 ? "[::1]" : "127.0.0.1"):\(port)") ?? URL(fileURLWithPath: "/")
    }

    deinit {
        close(descriptor)
    }
}

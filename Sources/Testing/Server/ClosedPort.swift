// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A port of 127.0.0.1 that refuses every connection while this object exists.
///
/// ```swift
/// let port = try ClosedPort()
/// let shop = Shop(baseURL: port.baseURL)       // its calls fail with `.cannotConnectToHost`
/// ```
package final class ClosedPort: Sendable {
    private let descriptor: Int32

    package let port: Int

    /// Reserves a free port.
    ///
    /// - Throws: An error that names the failed system call.
    package init() throws {
        let (descriptor, port) = try Socket.bound(to: .ipv4)
        self.descriptor = descriptor
        self.port = Int(port)
    }

    deinit {
        close(descriptor)
    }

    /// The URL of the port, for example `http://127.0.0.1:1234`.
    package var baseURL: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(fileURLWithPath: "/") }
}

// SPDX-License-Identifier: MIT
import Foundation

/// A system call on a socket that failed.
package struct SocketError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, for example `bind`.
    package var call: String
    /// The value of `errno` after it.
    package var code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and the system's message.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }

    package var errorDescription: String? { description }
}

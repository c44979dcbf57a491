// SPDX-License-Identifier: MIT

/// Why a loopback socket could not do what it was asked to.
package struct SocketError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed, `bind` for one.
    package var call: String
    /// The value of `errno` after it, or 0 where there is none.
    package var code: Int32

    /// A failure of that call.
    package init(call: String, code: Int32 = 0) {
        self.call = call
        self.code = code
    }

    /// The call and its code in one line.
    package var description: String { "\(call) failed on a loopback socket (errno \(code))" }
}

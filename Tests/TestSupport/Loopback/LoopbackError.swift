// SPDX-License-Identifier: MIT

/// Why a loopback socket could not do what it was asked to.
public struct LoopbackError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed, `bind` for one.
    public var call: String
    /// The value of `errno` after it, or 0 where there is none.
    public var code: Int32

    /// A failure of that call.
    public init(call: String, code: Int32 = 0) {
        self.call = call
        self.code = code
    }

    /// The call and its code in one line.
    public var description: String { "\(call) failed on a loopback socket (errno \(code))" }
}

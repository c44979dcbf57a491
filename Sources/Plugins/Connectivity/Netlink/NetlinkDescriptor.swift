// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation

/// A file descriptor that is closed when nobody has it any more.
final class NetlinkDescriptor: Sendable {
    let number: Int32

    /// Owns that descriptor; `nil` for one below zero, which is how the system says no.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Two that are connected: one can be read, and is at its end, when the other one is closed.
    static func pair() -> (NetlinkDescriptor, NetlinkDescriptor)? {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0, let one = NetlinkDescriptor(numbers[0]),
            let other = NetlinkDescriptor(numbers[1])
        else { return nil }
        return (one, other)
    }
}
#endif

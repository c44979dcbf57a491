// SPDX-License-Identifier: MIT

extension TestServer {
    /// Where a ``TestServer`` listens. None of these can be reached from another machine.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1, on a port that the kernel chooses.
        case ipv4
        /// ::1, on a port that the kernel chooses.
        case ipv6
        /// A Unix-domain socket at that path, which must not exist yet; at most 103 bytes. It is removed with the server.
        case unix(path: String)
    }
}

// SPDX-License-Identifier: MIT
#if os(Linux)

/// An address of this machine (`struct ifaddrmsg`).
package struct NetlinkAddress: Sendable, Hashable {
    /// `AF_INET` is 2, `AF_INET6` is 10.
    package var family: UInt8
    /// The link that has it.
    package var link: Int32
    /// Whether others than its own link's neighbours can answer to it.
    package var isGlobal: Bool

    package init(family: UInt8, link: Int32, isGlobal: Bool) {
        self.family = family
        self.link = link
        self.isGlobal = isGlobal
    }

    /// `nil` when it is too short.
    package init?(_ payload: NetlinkBytes) {
        guard let family = payload.load(UInt8.self, at: 0), let shortFlags = payload.load(UInt8.self, at: 2),
            let scope = payload.load(UInt8.self, at: 3), let link = payload.load(Int32.self, at: 4)
        else { return nil }
        // IFA_FLAGS, with more room than the field has
        let flags = payload.dropping(8).attributes()[8]?.load(UInt32.self, at: 0) ?? UInt32(shortFlags)
        self.family = family
        self.link = link
        // A scope below RT_SCOPE_LINK, and neither IFA_F_TENTATIVE nor IFA_F_DADFAILED: not used until no neighbour has it.
        isGlobal = scope < 253 && flags & 0x48 == 0
    }
}
#endif

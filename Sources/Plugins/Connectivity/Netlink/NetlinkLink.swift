// SPDX-License-Identifier: MIT
#if os(Linux)

/// A network device, as the kernel describes it (`struct ifinfomsg`).
package struct NetlinkLink: Sendable, Hashable {
    /// The number by which addresses and routes name it.
    package var index: Int32
    /// Its name, `eth0` for one.
    package var name: String
    /// `IFF_…`
    package var flags: UInt32
    /// What its frames are, `ARPHRD_…`.
    package var hardware: UInt16
    /// What made it, `veth`, `wireguard`; empty for what a driver has made of a piece of hardware.
    package var kind: String

    package init(index: Int32, name: String, flags: UInt32, hardware: UInt16 = 1, kind: String = "") {
        self.index = index
        self.name = name
        self.flags = flags
        self.hardware = hardware
        self.kind = kind
    }

    /// `nil` when it is too short.
    package init?(_ payload: NetlinkBytes) {
        guard let hardware = payload.load(UInt16.self, at: 2), let index = payload.load(Int32.self, at: 4),
            let flags = payload.load(UInt32.self, at: 8), payload.count >= 16
        else { return nil }
        let attributes = payload.dropping(16).attributes()
        self.index = index
        self.flags = flags
        self.hardware = hardware
        // IFLA_IFNAME; in IFLA_LINKINFO: IFLA_INFO_KIND
        name = attributes[3]?.text ?? ""
        kind = attributes[18]?.attributes()[1]?.text ?? ""
    }

    /// `IFF_UP`: somebody has switched it on.
    package var isUp: Bool { flags & 0x1 != 0 }
    /// `IFF_LOOPBACK`: it leads nowhere but here.
    package var isLoopback: Bool { flags & 0x8 != 0 }
    /// `IFF_UP` and `IFF_RUNNING`, so switched on and with the other end there, and not the loopback.
    package var isUsable: Bool { flags & 0x49 == 0x41 }
}
#endif

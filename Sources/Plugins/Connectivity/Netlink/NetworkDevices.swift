// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation

/// What kind of link a network device is.
///
/// `/sys/class/net` knows best, but shows the devices of the network namespace in which it was mounted, and is not there in every
/// container. What the kernel has said of the device itself decides the rest.
package struct NetworkDevices: Sendable {
    private let folder: String

    /// - Parameter folder: Where the devices are described, a folder for each.
    package init(folder: String = "/sys/class/net") {
        self.folder = folder
    }

    /// The kind of a device.
    package func kind(of link: NetlinkLink) -> Reachability.Link {
        kindBySystemFolder(link.name) ?? Self.kindByMessage(link)
    }

    /// What its folder says; `nil` when there is none, or nothing in it.
    private func kindBySystemFolder(_ name: String) -> Reachability.Link? {
        // A name has no slash and is not `..`: the kernel sees to that, and so does this.
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix(".") else { return nil }
        let device = folder + "/" + name
        let files = FileManager.default
        if ["wireless", "phy80211"].contains(where: { files.fileExists(atPath: "\(device)/\($0)") }) { return .wifi }
        let facts = (try? String(contentsOfFile: "\(device)/uevent", encoding: .utf8)) ?? ""
        let type = facts.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }
        switch type?.dropFirst("DEVTYPE=".count) {
        case "wlan": return .wifi
        case "wwan": return .cellular
        default: return files.fileExists(atPath: "\(device)/tun_flags") ? .other : nil
        }
    }

    private static func kindByMessage(_ link: NetlinkLink) -> Reachability.Link {
        switch link.kind {
        case "wwan", "rmnet": return .cellular
        case "tun", "wireguard", "ipip", "sit", "gre", "ip6tnl", "vti", "vti6", "xfrm", "ppp": return .other
        default: break
        }
        switch link.hardware {
        // ARPHRD_ETHER; ARPHRD_IEEE80211 and its two relatives; ARPHRD_RAWIP, which is how modems show themselves
        case 1: return .ethernet
        case 801...803: return .wifi
        case 519: return .cellular
        default: return .other
        }
    }
}
#endif

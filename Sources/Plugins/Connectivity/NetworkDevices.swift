// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation

/// Determines the link kind of network devices.
///
/// `/sys/class/net` is the most precise source, but it shows the devices of the network namespace in which it was
/// mounted, and is missing in some containers. Otherwise, the kernel's description of the device is used.
package struct NetworkDevices: Sendable {
    private let folder: String

    /// - Parameter folder: The folder that contains a folder for each device.
    package init(folder: String = "/sys/class/net") {
        self.folder = folder
    }

    /// The kind of a device.
    package func kind(of link: NetlinkLink) -> Reachability.Link {
        kindBySystemFolder(link.name) ?? Self.kindByMessage(link)
    }

    /// The kind according to the device's folder; `nil` if there is no folder, or it is empty.
    private func kindBySystemFolder(_ name: String) -> Reachability.Link? {
        // The kernel allows neither names with a slash nor `..`; this is an additional check.
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
        // ARPHRD_ETHER; ARPHRD_IEEE80211 and its two variants; ARPHRD_RAWIP, which modems use
        case 1: return .ethernet
        case 801...803: return .wifi
        case 519: return .cellular
        default: return .other
        }
    }
}
#endif

// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Network devices", .throttled)
struct NetworkDevicesTests {
    /// What a device's folder has.
    enum Sign: String, CaseIterable, Sendable {
        case wireless, phy80211, wlan, wwan, tunnel, bridge, nothing

        var kind: Reachability.Link {
            switch self {
            case .wireless, .phy80211, .wlan: .wifi
            case .wwan: .cellular
            case .tunnel: .other
            case .bridge, .nothing: .ethernet
            }
        }
    }

    @Test("A device's folder says what kind of link it is", arguments: Sign.allCases)
    func folder(_ sign: Sign) throws {
        let folder = try TemporaryFolder()
        let device = folder.url.appending(path: "dev0")
        try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
        switch sign {
        case .wireless, .phy80211:
            let mark = device.appending(path: sign.rawValue)
            try FileManager.default.createDirectory(at: mark, withIntermediateDirectories: true)
        case .wlan, .wwan, .bridge:
            try Data("INTERFACE=dev0\nDEVTYPE=\(sign.rawValue)\n".utf8).write(to: device.appending(path: "uevent"))
        case .tunnel: try Data("0x1001".utf8).write(to: device.appending(path: "tun_flags"))
        case .nothing: try Data("INTERFACE=dev0\nIFINDEX=2\n".utf8).write(to: device.appending(path: "uevent"))
        }
        let devices = NetworkDevices(folder: folder.url.path(percentEncoded: false))
        #expect(devices.kind(of: NetlinkLink(index: 2, name: "dev0", flags: 0x41)) == sign.kind)
    }

    @Test(
        "Without a folder the kernel's own word decides",
        arguments: [
            (1, "", .ethernet), (1, "veth", .ethernet), (801, "", .wifi), (803, "", .wifi), (519, "", .cellular),
            (1, "wwan", .cellular), (65534, "wireguard", .other), (65534, "tun", .other), (512, "ppp", .other),
            (772, "", .other), (65534, "", .other),
        ] as [(UInt16, String, Reachability.Link)]
    )
    func message(hardware: UInt16, kind: String, link: Reachability.Link) {
        let devices = NetworkDevices(folder: "/nowhere")
        let device = NetlinkLink(index: 2, name: "dev0", flags: 0x41, hardware: hardware, kind: kind)
        #expect(devices.kind(of: device) == link)
    }

    @Test("A name that would lead out of the folder is not looked up", arguments: ["", "..", ".", "../outside", "a/b"])
    func names(_ name: String) throws {
        let folder = try TemporaryFolder()
        for place in ["wireless", "outside/wireless", "net/a/b/wireless", "net/wireless"] {
            let mark = folder.url.appending(path: place)
            try FileManager.default.createDirectory(at: mark, withIntermediateDirectories: true)
        }
        let devices = NetworkDevices(folder: folder.url.appending(path: "net").path(percentEncoded: false))
        #expect(devices.kind(of: NetlinkLink(index: 2, name: name, flags: 0x41)) == .ethernet)
    }
}
#endif

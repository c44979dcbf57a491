// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline
import TargetKitPlugins

nonisolated extension URL {
    static let shop = URL(filePath: "/")
}

nonisolated let folder = URL(filePath: "/")
nonisolated let user = "ann"
nonisolated let tokens = AccessTokenPlugin { _ in "token" }
nonisolated let reachability = Reachability()
nonisolated let transport = StubTransport(.response(status: 200, data: Data()))

nonisolated func show(_ text: String) {}

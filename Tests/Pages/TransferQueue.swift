// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

nonisolated extension URL {
    static let media = URL(filePath: "/")
    static let films = URL(filePath: "/")
}

nonisolated let folder = URL(filePath: "/")
nonisolated let reachability = Reachability()
nonisolated let transport = StubTransport(.response(status: 200, data: Data()))

nonisolated func show(_ transfers: [Transfer<Media>]) {}

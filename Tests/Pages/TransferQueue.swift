// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

extension URL {
    static let media = URL(filePath: "/")
    static let films = URL(filePath: "/")
}

let folder = URL(filePath: "/")
let reachability = Reachability()
let transport = StubTransport(.response(status: 200, data: Data()))

func show(_ transfers: [Transfer<Media>]) {}

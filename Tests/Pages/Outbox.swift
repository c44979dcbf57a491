// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline
import TargetKitPlugins

extension URL {
    static let shop = URL(filePath: "/")
}

let folder = URL(filePath: "/")
let user = "ann"
let tokens = AccessTokenPlugin { _ in "token" }
let reachability = Reachability()
let transport = StubTransport(.response(status: 200, data: Data()))

func show(_ text: String) {}

// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

extension URL {
    static let market = URL(filePath: "/")
}

let tokens = AccessTokenPlugin { _ in "token" }

func show(_ text: String) {}

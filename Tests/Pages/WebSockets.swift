// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

nonisolated extension URL {
    static let market = URL(filePath: "/")
}

nonisolated let tokens = AccessTokenPlugin { _ in "token" }

nonisolated func show(_ text: String) {}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

nonisolated struct Texts: Sendable {
    func append(_ text: String) {}
}

nonisolated let names = Texts()

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

struct Texts: Sendable {
    func append(_ text: String) {}
}

let names = Texts()

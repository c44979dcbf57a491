// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension URL {
    static let shop = URL(filePath: "/")
}

let clock = ContinuousClock()
let reachability = Reachability()
let transport = StubTransport(.response(status: 200, data: Data()))

func banner(_ text: String) {}

/// Stands for the test clock of an app.
func ManualClock() -> ContinuousClock { ContinuousClock() }

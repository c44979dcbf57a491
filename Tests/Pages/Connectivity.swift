// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension URL {
    static let shop = URL(filePath: "/")
}

let clock = ContinuousClock()
let reachability = Reachability(source: ManualConnectivity(.offline))
let transport = StubTransport(.response(status: 200, data: Data()))

func banner(_ text: String) {}

/// Stands for the clock that the tests of an app have.
func ManualClock() -> ContinuousClock { ContinuousClock() }

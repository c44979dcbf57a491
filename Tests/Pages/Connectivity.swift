// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

nonisolated extension URL {
    static let shop = URL(filePath: "/")
}

nonisolated let clock = ContinuousClock()
nonisolated let reachability = Reachability()
nonisolated let transport = StubTransport(.response(status: 200, data: Data()))

nonisolated func banner(_ text: String) {}

/// Stands for the test clock of an app.
nonisolated func ManualClock() -> ContinuousClock { ContinuousClock() }

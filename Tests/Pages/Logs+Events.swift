// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

nonisolated enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

nonisolated struct Counter: Sendable {
    func count(_ text: String) {}
    func write(_ text: String) {}
}

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
nonisolated let counter = Counter()
nonisolated let console = Counter()
nonisolated let folder = URL(filePath: "/tmp")

nonisolated func toast(_ text: String) {}

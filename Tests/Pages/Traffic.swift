// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitDiagnostics

nonisolated enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

nonisolated struct Connections: Sendable {
    func send(_ event: Data) {}
    func serve(_ html: String) {}
}

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
nonisolated let connections = Connections()
nonisolated let folder = URL(filePath: "/tmp")
nonisolated let eventsURL = URL(filePath: "/events")

nonisolated func log(_ line: String) {}

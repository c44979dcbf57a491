// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitDiagnostics

nonisolated enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))

nonisolated func log(_ line: String) {}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitDiagnostics

enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

let transport = StubTransport(.response(status: 200, data: Data()))

func log(_ line: String) {}

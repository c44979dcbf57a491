// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitDiagnostics

enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

struct Connections: Sendable {
    func send(_ event: Data) {}
    func serve(_ html: String) {}
}

let transport = StubTransport(.response(status: 200, data: Data()))
let connections = Connections()
let folder = URL(filePath: "/tmp")
let eventsURL = URL(filePath: "/events")

func log(_ line: String) {}

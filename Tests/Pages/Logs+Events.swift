// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

struct Counter: Sendable {
    func count(_ text: String) {}
    func write(_ text: String) {}
}

let transport = StubTransport(.response(status: 200, data: Data()))
let counter = Counter()
let console = Counter()
let folder = URL(filePath: "/tmp")

func toast(_ text: String) {}

// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

enum Shop: TargetType {
    case orders
    case pay(draft: String)
    case search

    var baseURL: URL { main }
    var path: RequestPath { "/shop" }
}

struct List<Element>: Sendable {
    func append(_ element: Element) {}
}

let main = URL(filePath: "/main")
let reserve = URL(filePath: "/reserve")
let clock = ContinuousClock()
let moves = List<URL>()
let changes = List<String>()
let retries = List<String>()
let breaker = CircuitBreakerPlugin()
let transport = StubTransport(.response(status: 200, data: Data()))

// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Shop: TargetType {
    case orders
    case pay(draft: String)
    case search

    var baseURL: URL { main }
    var path: RequestPath { "/shop" }
}

nonisolated struct List<Element>: Sendable {
    func append(_ element: Element) {}
}

nonisolated let main = URL(filePath: "/main")
nonisolated let reserve = URL(filePath: "/reserve")
nonisolated let clock = ContinuousClock()
nonisolated let retries = List<String>()
nonisolated let transport = StubTransport(.response(status: 200, data: Data()))

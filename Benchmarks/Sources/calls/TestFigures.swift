// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitTesting

/// What tests with stubs cost, each with a provider, routes and a log of its own, and what they leave behind.
struct TestFigures {
    private enum Shop: TargetType, Equatable {
        case product(id: Int)
        case search(String)
        case order(id: Int, count: Int)

        var baseURL: URL { Self.base }
        var path: RequestPath {
            switch self {
            case .product(let id): "/products/\(id)"
            case .search: "/search"
            case .order: "/orders"
            }
        }
        var method: HTTPMethod {
            if case .order = self { .post } else { .get }
        }
        var task: HTTPTask {
            switch self {
            case .product: .plain
            case .search(let text): .parameters(["q": text], encoding: .url)
            case .order(let id, let count): .json(["items": [["id": id, "count": count]]])
            }
        }

        private static let base = URL(string: "https://api.example.com/v1") ?? URL(filePath: "/")
    }

    private struct Product: Codable, Sendable {
        var id: Int
        var name: String
        var price: Double
        var tags: [String]
    }

    private static let tests = 10_000

    func add(to table: Table) async throws {
        let products = (0..<20).map { Product(id: $0, name: "Green tea \($0)", price: 3.5, tags: ["tea", "green"]) }
        let list = String(decoding: try JSONEncoder().encode(products), as: UTF8.self)
        for _ in 0..<1000 { try await test(list) }
        let before = (files: ProcessFigures.openFiles.count, threads: ProcessFigures.threadCount)
        let memory = ProcessFigures.residentBytes
        let race = try await Race(rounds: 5, [{ for _ in 0..<Self.tests { try await test(list) } }])
        let seconds = Rounds(race.seconds[0])
        table.add("10,000 stubbed tests of 3 calls, s", timeText(seconds.median), rounds: seconds, goal: .atMost(2))
        let left = ProcessFigures.openFiles.count - before.files + ProcessFigures.threadCount - before.threads
        table.add("the same: threads and files left", "", figure: Double(left), goal: .atMost(0))
        let bytes = Double(ProcessFigures.residentBytes - memory)
        table.add("the same: memory, MiB", "", figure: bytes / 1_048_576, goal: .atMost(4))
    }

    /// A search, its first result, and an order, whose body is checked.
    private func test(_ list: String) async throws {
        let calls = RequestLog()
        let transport = StubTransport(
            routes: [
                .target(Shop.search("tea")): .json(list),
                .get("/products/:id"): .sequence(.json(#"{"id":7,"name":"Tea","price":1,"tags":[]}"#), .status(503)),
                .post("/orders").with(.json("items.0.id", 7)): .json(#"{"id":1}"#, status: 201).header(.eTag, "\"1\""),
                .get("/cart"): .status(401),
            ],
            log: calls
        )
        let provider = Provider<Shop>(transport: transport)
        let products = try await provider.request(.search("tea"), as: [Product].self)
        let product = try await provider.request(.product(id: products.count), as: Product.self)
        let response = try await provider.request(.order(id: product.id, count: 2))
        let order = try await calls.next(.post("/orders"))
        try calls.expect([
            .get("/search?q=tea"), .target(Shop.product(id: 20)), .post("/orders").with(.json("items.0.count", 2)),
        ])
        keep((response, order, transport.unusedRoutes))
    }
}

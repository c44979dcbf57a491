// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// From target to request, against the least that makes the same request by hand.
struct TargetFigures {
    private struct Product: TargetType {
        let baseURL: URL
        let id: Int
        var path: RequestPath { "/products/\(id)" }
    }

    /// Six fields.
    private struct Order: Codable, Sendable {
        var id: Int
        var name = "Jasmine \"Silver\" Needle"
        var price = 12.5
        var count = 3
        var isGift = true
        var origin = "福建"
    }

    private struct PlaceOrder: TargetType {
        let baseURL: URL
        let order: Order
        var path: RequestPath { "/orders" }
        var method: HTTPMethod { .post }
        var task: HTTPTask { .json(order) }
    }

    /// A form with two levels.
    private struct Filter: Encodable, Sendable {
        struct Price: Encodable, Sendable {
            var from = 5
            var to: Int
        }

        var query = "green tea & honey"
        var price: Price
        var tags = ["Zürich", "loose"]
        var isOrganic = true
    }

    private struct Filtered: TargetType {
        let baseURL: URL
        let filter: Filter
        var path: RequestPath { "/filters" }
        var method: HTTPMethod { .post }
        var task: HTTPTask { .form(filter) }
    }

    private static let calls = 2000
    private let base: URL

    init() throws {
        guard let base = URL(string: "https://api.example.com") else { throw URLError(.badURL) }
        self.base = base
    }

    func add(to table: Table) async throws {
        try await addPlain(to: table)
        try await addJSON(to: table)
        try await addForm(to: table)
    }

    private func addPlain(to table: Table) async throws {
        try await add(
            "plain target → URLRequest, by URL and URLRequest",
            goal: .atMost(1.6),
            to: table,
            { keep(try Endpoint(target: Product(baseURL: base, id: $0)).urlRequest()) },
            { id in keep(URL(string: "https://api.example.com/products/\(id)").map { URLRequest(url: $0) }) }
        )
    }

    private func addJSON(to table: Table) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try await add(
            "6 fields as JSON → URLRequest, by JSONEncoder",
            goal: .atMost(1.05),
            to: table,
            { keep(try Endpoint(target: PlaceOrder(baseURL: base, order: Order(id: $0))).urlRequest()) },
            { keep(try request("/orders", encoder.encode(Order(id: $0)), "application/json")) }
        )
    }

    private func addForm(to table: Table) async throws {
        try await add(
            "nested form → URLRequest, by URLComponents",
            goal: .atMost(1.3),
            to: table,
            {
                let filter = Filter(price: .init(to: $0))
                keep(try Endpoint(target: Filtered(baseURL: base, filter: filter)).urlRequest())
            },
            {
                let filter = Filter(price: .init(to: $0))
                keep(try request("/filters", form(filter), "application/x-www-form-urlencoded; charset=utf-8"))
            }
        )
    }

    private func add(
        _ what: String,
        goal: Table.Goal,
        to table: Table,
        _ target: @escaping @Sendable (Int) throws -> Void,
        _ byHand: @escaping @Sendable (Int) throws -> Void
    ) async throws {
        let race = try await Race(
            rounds: 60,
            [
                { for id in 0..<Self.calls { try target(id) } },
                { for id in 0..<Self.calls { try byHand(id) } },
            ]
        )
        let times = race.best.map { timeText($0 / Double(Self.calls)) }
        table.add(what, times[0], times[1], rounds: race.ratios(), goal: goal)
    }

    private func request(_ path: String, _ body: Data, _ contentType: String) throws -> URLRequest {
        guard let url = URL(string: "https://api.example.com" + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        return request
    }

    /// The same form, its fields named and sorted by hand.
    private func form(_ filter: Filter) -> Data {
        var components = URLComponents()
        components.queryItems =
            [
                URLQueryItem(name: "isOrganic", value: filter.isOrganic ? "1" : "0"),
                URLQueryItem(name: "price[from]", value: "\(filter.price.from)"),
                URLQueryItem(name: "price[to]", value: "\(filter.price.to)"),
                URLQueryItem(name: "query", value: filter.query),
            ] + filter.tags.map { URLQueryItem(name: "tags[]", value: $0) }
        return Data((components.percentEncodedQuery ?? "").utf8)
    }
}

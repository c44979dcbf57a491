// SPDX-License-Identifier: MIT
import Allocations
import Foundation
import Measuring
import TargetKit

/// What a call costs without a network: a stubbed one goes the whole path but for the transport.
@main
struct CallsBenchmark {
    private struct Search: TargetType {
        let baseURL: URL
        let page: Int
        var path: RequestPath { "/products/search" }
        var task: HTTPTask {
            .parameters(["query": "green tea", "page": page, "sort": "price", "stock": true, "city": "Zürich"])
        }
    }

    private struct Plain: TargetType {
        let baseURL: URL
        let page: Int
        var path: RequestPath { "/products/\(page)" }
    }

    /// A plugin that has no hook of its own.
    private struct IdlePlugin: Plugin {}

    static func main() async throws {
        guard let base = URL(string: "https://api.example.com") else { throw URLError(.badURL) }
        let table = Table("A stubbed call")
        let bare = provider(Search.self, plugins: 0)
        let allocations = try await allocations { try await call(bare) { Search(baseURL: base, page: $0) } }
        table.add("allocations, 5 URL parameters", "\(allocations)", figure: allocations, goal: .atMost(60))
        let plain = provider(Plain.self, plugins: 0)
        let few = try await Self.allocations { try await call(plain) { Plain(baseURL: base, page: $0) } }
        table.add("allocations, plain target", "\(few)", figure: few)
        let endpoints = try await Self.allocations {
            for page in 0..<calls { keep(try Endpoint(target: Search(baseURL: base, page: page)).urlRequest()) }
        }
        table.add("of these for target → URLRequest, 5 parameters", "\(endpoints)", figure: endpoints)

        let ten = provider(Search.self, plugins: 10)
        let pluggedIn = try await Self.allocations { try await call(ten) { Search(baseURL: base, page: $0) } }
        table.add("allocations for each idle plugin", "", figure: (pluggedIn - allocations) / 10)
        let race = try await Race(
            rounds: 40,
            [
                { try await call(bare) { Search(baseURL: base, page: $0) } },
                { try await call(ten) { Search(baseURL: base, page: $0) } },
                { try await call(plain) { Plain(baseURL: base, page: $0) } },
                {
                    for page in 0..<calls { keep(try Endpoint(target: Search(baseURL: base, page: page)).urlRequest()) }
                },
            ]
        )
        let times = race.best.map { $0 / Double(calls) }
        table.add("time, 5 URL parameters", timeText(times[0]), figure: times[0] * 1e6)
        table.add("of this for target → URLRequest", timeText(times[3]), figure: times[3] * 1e6)
        table.add("time, plain target", timeText(times[2]), figure: times[2] * 1e6)
        let idle = (times[1] - times[0]) / 10
        table.add("ns for each idle plugin", timeText(idle), figure: idle * 1e9, goal: .atMost(60))
        try await FlightFigures().add(to: table)
        table.finish()
    }

    private static let calls = 2000

    private static func provider<Target: TargetType>(_ type: Target.Type, plugins: Int) -> Provider<Target> {
        Provider(stubClosure: { _ in .immediate }, plugins: Array(repeating: IdlePlugin(), count: plugins))
    }

    private static func call<Target: TargetType>(
        _ provider: Provider<Target>,
        _ target: @Sendable (Int) -> Target
    ) async throws {
        for page in 0..<calls { keep(try await provider.request(target(page))) }
    }

    /// Allocations of one call, the mean of many.
    private static func allocations(_ calls: @Sendable () async throws -> Void) async throws -> Double {
        try await calls()
        let before = allocations_count()
        try await calls()
        return Double(allocations_count() - before) / Double(Self.calls)
    }
}

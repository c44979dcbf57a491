// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Parameters as a query, against `URLComponents`, which gets its values as text already.
struct ParameterFigures {
    private let count: Int
    private let parameters: [String: any Sendable]
    private let texts: [(String, String)]
    private let base: URL

    init(count: Int) throws {
        guard let base = URL(string: "https://api.example.com/products/search") else { throw URLError(.badURL) }
        self.base = base
        self.count = count
        var parameters: [String: any Sendable] = [:]
        var texts: [(String, String)] = []
        let values: [(any Sendable, String)] = [
            ("green tea & honey", "green tea & honey"), (12, "12"), ("price", "price"), (true, "1"),
            ("Zürich", "Zürich"),
        ]
        for index in 0..<count {
            let name = index < 5 ? ["query", "page", "sort", "stock", "city"][index] : "filter\(index)"
            parameters[name] = values[index % 5].0
            texts.append((name, values[index % 5].1))
        }
        self.parameters = parameters
        self.texts = texts
    }

    func add(to table: Table, goal: Double) async throws {
        let calls = 20_000 / count
        let request = URLRequest(url: base)
        let encoding = URLEncoding(destination: .query)
        let race = try await Race(
            rounds: 60,
            [
                { for _ in 0..<calls { keep(try encoding.encode(parameters, into: request).url) } },
                { for _ in 0..<calls { keep(components()) } },
                { for _ in 0..<calls { keep(try encoding.queryString(parameters)) } },
            ]
        )
        let times = race.best.map { timeText($0 / Double(calls)) }
        table.add(
            "\(count) parameters → URL, by URLComponents",
            times[0],
            times[1],
            figure: race.ratio,
            goal: .atMost(goal)
        )
        table.add("\(count) parameters → text", times[2], times[1], figure: race.best[2] / race.best[1])
    }

    private func components() -> URL? {
        var components = URLComponents(url: base, resolvingAgainstBaseURL: false)
        components?.queryItems = texts.map { URLQueryItem(name: $0.0, value: $0.1) }
        return components?.url
    }
}

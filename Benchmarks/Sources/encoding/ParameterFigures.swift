// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Parameters as a query, against `URLComponents`, which gets its values as text already. TargetKit sorts the names;
/// for the same bytes the peer has to sort as well.
struct ParameterFigures {
    private let count: Int
    private let parameters: [String: any Sendable]
    private let texts: [String: String]
    private let base: URL

    init(count: Int) throws {
        guard let base = URL(string: "https://api.example.com/products/search") else { throw URLError(.badURL) }
        self.base = base
        self.count = count
        var parameters: [String: any Sendable] = [:]
        var texts: [String: String] = [:]
        let values: [(any Sendable, String)] = [
            ("green tea & honey", "green tea & honey"), (12, "12"), ("price", "price"), (true, "1"),
            ("Zürich", "Zürich"),
        ]
        for index in 0..<count {
            let name = index < 5 ? ["query", "page", "sort", "stock", "city"][index] : "filter\(index)"
            parameters[name] = values[index % 5].0
            texts[name] = values[index % 5].1
        }
        self.parameters = parameters
        self.texts = texts
    }

    func add(to table: Table, goal: Double) async throws {
        let calls = 20_000 / count
        let encoding = URLEncoding(destination: .query)
        let endpoint = Endpoint(url: base, task: .parameters(parameters, encoding: encoding))
        let race = try await Race(
            rounds: 60,
            [
                { for _ in 0..<calls { keep(try encoding.queryString(parameters)) } },
                { for _ in 0..<calls { keep(url(sorted: true)) } },
                { for _ in 0..<calls { keep(url(sorted: false)) } },
                { for _ in 0..<calls { keep(try endpoint.urlRequest()) } },
                { for _ in 0..<calls { keep(url(sorted: true).map { URLRequest(url: $0) }) } },
            ]
        )
        let times = race.best.map { timeText($0 / Double(calls)) }
        let name = "\(count) parameters"
        table.add(
            "\(name) → query, by URLComponents",
            times[0],
            times[1],
            rounds: race.ratios(),
            goal: .atMost(goal)
        )
        table.add("the same, the peer in any order", times[0], times[2], rounds: race.ratios(0, by: 2))
        table.add("\(name) → URLRequest", times[3], times[4], rounds: race.ratios(3, by: 4))
    }

    private func url(sorted: Bool) -> URL? {
        var items = texts.map { URLQueryItem(name: $0.key, value: $0.value) }
        if sorted { items.sort { $0.name < $1.name } }
        var components = URLComponents(url: base, resolvingAgainstBaseURL: false)
        components?.queryItems = items
        return components?.url
    }
}

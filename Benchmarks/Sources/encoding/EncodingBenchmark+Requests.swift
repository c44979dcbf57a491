// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plainest of targets: a path below a base URL.
private struct ProductTarget: TargetType {
    let baseURL: URL
    let id: Int
    var path: RequestPath { "/products/\(id)" }
}

/// The same with a header field.
private struct LabelledTarget: TargetType {
    let baseURL: URL
    let id: Int
    var path: RequestPath { "/products/\(id)" }
    var headers: HTTPHeaders { ["Accept": "application/json"] }
}

extension EncodingBenchmark {
    /// From target to request, against writing the request by hand.
    static func addRequests(to table: Table) async throws {
        let calls = 4000
        guard let base = URL(string: "https://api.example.com") else { throw URLError(.badURL) }
        let race = try await Race(
            rounds: 60,
            [
                {
                    for id in 0..<calls {
                        keep(try Endpoint(target: ProductTarget(baseURL: base, id: id)).urlRequest())
                    }
                },
                { for id in 0..<calls { keep(request(id: id, accept: nil)) } },
                {
                    for id in 0..<calls {
                        keep(try Endpoint(target: LabelledTarget(baseURL: base, id: id)).urlRequest())
                    }
                },
                { for id in 0..<calls { keep(request(id: id, accept: "application/json")) } },
            ]
        )
        let times = race.best.map { timeText($0 / Double(calls)) }
        table.add(
            "plain target → URLRequest, by hand",
            times[0],
            times[1],
            rounds: race.ratios(),
            goal: .atMost(1.2)
        )
        table.add("with a header field, by hand", times[2], times[3], rounds: race.ratios(2, by: 3), goal: .atMost(1.2))
    }

    /// The time to convert 100 header fields to a request's dictionary, compared with filling a case-sensitive
    /// dictionary, in microseconds.
    static func addHeaders(to table: Table) async throws {
        let calls = 200
        let fields = (0..<100).map { HTTPHeaders.Field(name: .init(rawValue: "X-Field-\($0)"), value: "\($0)") }
        let headers = HTTPHeaders(fields)
        let race = try await Race(
            rounds: 60,
            [
                { for _ in 0..<calls { keep(headers.dictionary) } },
                {
                    for _ in 0..<calls {
                        keep(Dictionary(fields.map { ($0.name.rawValue, $0.value) }) { $0 + ", " + $1 })
                    }
                },
            ]
        )
        let times = race.best.map { timeText($0 / Double(calls)) }
        table.add(
            "100 header fields → dictionary, a plain one",
            times[0],
            times[1],
            rounds: Rounds(race.seconds[0].map { $0 / Double(calls) * 1e6 }),
            goal: .atMost(20)
        )
    }

    private static func request(id: Int, accept: String?) -> URLRequest? {
        guard let url = URL(string: "https://api.example.com/products/\(id)") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "GET"
        if let accept { request.setValue(accept, forHTTPHeaderField: "Accept") }
        return request
    }
}

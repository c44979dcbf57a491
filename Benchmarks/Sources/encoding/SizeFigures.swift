// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

/// The cost of a query against its number of parameters.
struct ParameterSizes {
    func add(to table: Table) async throws {
        var own: [(Int, Double)] = []
        var peer: [(Int, Double)] = []
        for count in [1, 3, 10, 30, 100, 300, 1000] {
            let texts = Dictionary(uniqueKeysWithValues: (0..<count).map { ("filter\($0)", "green tea & honey \($0)") })
            let parameters: [String: any Sendable] = texts
            let encoding = URLEncoding(destination: .query)
            let calls = max(1, 3_000 / count)
            let best = try await Race(
                rounds: 15,
                [
                    { for _ in 0..<calls { keep(try encoding.queryString(parameters)) } },
                    { for _ in 0..<calls { keep(query(of: texts)) } },
                ]
            ).best.map { $0 / Double(calls) * 1e6 }
            own.append((count, best[0]))
            peer.append((count, best[1]))
        }
        let plot = "A query: µs against the number of parameters"
        table.add(curve: "TargetKit", of: plot, own)
        table.add(curve: "URLComponents, sorted", of: plot, peer)
    }

    private func query(of texts: [String: String]) -> String? {
        var components = URLComponents()
        components.queryItems = texts.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        return components.percentEncodedQuery
    }
}

/// The cost of header fields against their number.
struct HeaderSizes {
    func add(to table: Table) async throws {
        var own: [(Int, Double)] = []
        var peer: [(Int, Double)] = []
        for count in [1, 3, 10, 30, 100, 300] {
            let fields = (0..<count).map { HTTPHeaders.Field(name: .init(rawValue: "X-Field-\($0)"), value: "\($0)") }
            let headers = HTTPHeaders(fields)
            let calls = max(1, 6_000 / count)
            let best = try await Race(
                rounds: 15,
                [
                    { for _ in 0..<calls { keep(headers.dictionary) } },
                    {
                        for _ in 0..<calls {
                            keep(Dictionary(fields.map { ($0.name.rawValue, $0.value) }) { $0 + ", " + $1 })
                        }
                    },
                ]
            ).best.map { $0 / Double(calls) * 1e6 }
            own.append((count, best[0]))
            peer.append((count, best[1]))
        }
        let plot = "Header fields for a request: µs against their number"
        table.add(curve: "TargetKit, case-insensitive", of: plot, own)
        table.add(curve: "a plain dictionary", of: plot, peer)
    }
}

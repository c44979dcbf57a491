// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

extension EncodingBenchmark {
    /// The cost of a query against its number of parameters, and of header fields against theirs.
    static func addSizes(to table: Table) async throws {
        try await table.add(
            curves: "A query: µs against the number of parameters",
            of: ("TargetKit", "URLComponents, sorted"),
            sizes: [1, 3, 10, 30, 100, 300, 1000],
            rounds: 15,
            work: 3_000
        ) { count in
            let texts = Dictionary(uniqueKeysWithValues: (0..<count).map { ("filter\($0)", "green tea & honey \($0)") })
            let parameters: [String: any Sendable] = texts
            let encoding = URLEncoding(destination: .query)
            return ({ keep(try encoding.queryString(parameters)) }, { keep(query(of: texts)) })
        }
        try await table.add(
            curves: "Header fields for a request: µs against their number",
            of: ("TargetKit, case-insensitive", "a plain dictionary"),
            sizes: [1, 3, 10, 30, 100, 300],
            rounds: 15,
            work: 6_000
        ) { count in
            let fields = (0..<count).map { HTTPHeaders.Field(name: .init(rawValue: "X-Field-\($0)"), value: "\($0)") }
            let headers = HTTPHeaders(fields)
            return (
                { keep(headers.dictionary) },
                { keep(Dictionary(fields.map { ($0.name.rawValue, $0.value) }) { $0 + ", " + $1 }) }
            )
        }
    }

    private static func query(of texts: [String: String]) -> String? {
        var components = URLComponents()
        components.queryItems = texts.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        return components.percentEncodedQuery
    }
}

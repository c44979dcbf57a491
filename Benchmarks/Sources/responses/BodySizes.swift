// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

/// The cost of a JSON body as a dynamic value against the number of its objects.
struct BodySizes {
    func add(to table: Table) async throws {
        var own: [(Int, Double)] = []
        var peer: [(Int, Double)] = []
        for count in [1, 10, 100, 1_000, 10_000] {
            let objects = (0..<count).map { #"{"id":\#($0),"name":"Green tea \#($0)","price":\#($0).25,"stock":true}"# }
            let data = Data("[\(objects.joined(separator: ","))]".utf8)
            let calls = max(1, 3_000 / count)
            let best = try await Race(
                rounds: 10,
                [
                    { for _ in 0..<calls { keep(try JSONValue(parsing: data)) } },
                    { for _ in 0..<calls { keep(try JSONSerialization.jsonObject(with: data)) } },
                ]
            ).best.map { $0 / Double(calls) * 1e6 }
            own.append((count, best[0]))
            peer.append((count, best[1]))
        }
        let plot = "A JSON body: µs against the number of objects"
        table.add(curve: "JSONValue", of: plot, own)
        table.add(curve: "JSONSerialization", of: plot, peer)
    }
}
